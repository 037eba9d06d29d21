"""Figures as PNG and SVG files, drawn by the browser that kaleido carries: nothing of the system, no network.

Kaleido's own driver is left aside: it goes through a shell script that breaks on a path with a space, and plotly's
through versions of kaleido that want a browser installed. The program itself reads one JSON request a line.
"""

import base64
import json
import os
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

PNG_SCALE = 2  # so that text is sharp on today's screens


def draw(figures: Sequence["Figure"], kind: Literal["png", "svg"]) -> list[bytes]:
    """Draw figures, all in one start of the browser.

    Arguments:
        figures: plotly figures with a width and a height.
        kind: png or svg.
    """
    if not figures:
        return []
    requests = [
        f'{{"data": {figure.to_json()}, "format": "{kind}", "width": {figure.layout.width}, '
        f'"height": {figure.layout.height}, "scale": {PNG_SCALE if kind == "png" else 1}}}\n'
        for figure in figures
    ]
    finished = subprocess.run(
        _command(),
        env=_environment(),
        cwd=_folder(),
        input="".join(requests).encode(),
        capture_output=True,
        check=False,
    )
    # The first answer says that the browser has started, then there is one for each request.
    answers = [json.loads(line) for line in finished.stdout.splitlines()]
    broken = next((answer for answer in answers if answer.get("code", 0) != 0), None)
    if broken is not None or len(answers) != len(figures) + 1:
        reason = broken["message"] if broken else finished.stderr.decode(errors="replace")[-300:]
        raise FirstlightError(f"drawing {len(figures)} figures as {kind}: the browser of kaleido failed: {reason}")
    images = [answer["result"] for answer in answers[1:]]
    return [base64.b64decode(image) if kind == "png" else image.encode() for image in images]


def plotly_script() -> Path:
    """Return the plotly.js that came with plotly."""
    return _package("plotly") / "package_data" / "plotly.min.js"


def _folder() -> Path:
    return _package("kaleido") / "executable"


def _command() -> list[str]:
    options = ["--disable-gpu", "--allow-file-access-from-files", "--disable-breakpad", "--disable-dev-shm-usage"]
    # A browser started by root, as in containers, refuses its sandbox; it shows nothing but our own figures.
    options.append("--no-sandbox")
    return [str(_folder() / "bin" / "kaleido"), "plotly", f"--plotlyjs={plotly_script()}", *options]


def _environment() -> dict[str, str]:
    folder = _folder()
    libraries = [str(folder / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    own = {
        "LD_LIBRARY_PATH": os.pathsep.join(libraries),
        "FONTCONFIG_PATH": str(folder / "etc" / "fonts"),
        "XDG_DATA_HOME": str(folder / "xdg"),
    }
    return {**{name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}, **own}


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise FirstlightError(f"plots need the package {name}; `pip install 'firstlight[plots]'` brings it")
    return Path(spec.submodule_search_locations[0])
