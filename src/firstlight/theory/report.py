"""What `verify` and `ablate` leave behind: rows as Parquet and JSON, plots as PNG, and one page to read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.files import write_json
from firstlight.report.page import Section, Table, write_page
from firstlight.report.plots import write_png
from firstlight.report.rows import grouped, write_rows
from firstlight.theory.ablation import AblationRow
from firstlight.theory.bounds import statement
from firstlight.theory.figures import ablation_figures, truncation_figure, verification_figures
from firstlight.theory.spread import spread
from firstlight.theory.tables import (
    ablation_table,
    bound_table,
    checkpoint_table,
    horizon_notes,
    horizon_table,
    loss_text,
    spread_text,
    truncation_table,
)
from firstlight.theory.truncation import TruncationRow
from firstlight.theory.verification import Verification

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_WRITTEN = (
    *("verify.json", "rows.parquet", "spread.parquet", "truncation.parquet", "report.html"),
    *(f"{name}.png" for name in ("cosine", "gap", "relative_error", "bounds", "loss", "truncation")),
)


@dataclass(frozen=True)
class Findings:
    """All that was measured of some runs, which differ in their seed alone.

    Attributes:
        runs: their folders.
        settings: what was asked for.
        verifications: one of each run.
        truncation: of each run, or of the first where the seed decides nothing; or nothing.
        closed_form: losses of the same runs, of the closed form and of counting models, or nothing.
        notes: what stands between the runs and the theory, in words.
    """

    runs: Sequence[str]
    settings: Mapping[str, Any]
    verifications: Sequence[Verification]
    truncation: Sequence[Sequence[TruncationRow]]
    closed_form: Sequence[Sequence[Mapping[str, Any]]]
    notes: Sequence[str]

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        from firstlight.theory.bounds import as_document

        pairs = list(zip(self.runs, self.verifications, strict=True))
        document: dict[str, Any] = {
            "runs": list(self.runs),
            "settings": dict(self.settings),
            "theorem": as_document(self.verifications[0].theorem),
            "notes": list(self.notes),
            "rows": [{"run": run, **asdict(row)} for run, found in pairs for row in found.rows],
            "horizons": [{"run": run, **asdict(each)} for run, found in pairs for each in found.horizons],
        }
        if len(self.runs) > 1:
            document["spread"] = [asdict(row) for row in spread([found.rows for _, found in pairs])]
        if self.truncation:
            of = zip(self.runs, self.truncation, strict=False)  # of equal runs only the first was measured
            document["truncation"] = [{"run": run, **asdict(row)} for run, rows in of for row in rows]
        if self.closed_form:
            of_losses = zip(self.runs, self.closed_form, strict=False)
            document["closed_form"] = [{"run": run, **row} for run, rows in of_losses for row in rows]
        return document


def write_findings(folder: Path, findings: Findings, plots: bool, interactive: bool) -> list[Path]:
    """Write all that was found and return the files.

    Arguments:
        folder: where.
        findings: what was measured.
        plots: whether to draw plots and the page.
        interactive: whether figures on the page zoom and tell values.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # What an earlier call left and this one does not measure would be taken for this one's.
    for name in _WRITTEN:
        (folder / name).unlink(missing_ok=True)
    document = findings.document()
    written = [folder / "verify.json"]
    write_json(written[0], document)
    for name in ("rows", "spread", "truncation"):
        if name in document:
            write_rows(folder / f"{name}.parquet", document[name])
            written.append(folder / f"{name}.parquet")
    if not plots:
        return written
    theorem, together = findings.verifications[0].theorem, spread([found.rows for found in findings.verifications])
    figures = verification_figures(together, theorem, flat(findings.closed_form))
    if findings.truncation:
        figures["truncation"] = truncation_figure(flat(findings.truncation))
    written += _draw(folder, figures)
    sections = verification_sections(findings, figures)
    write_page(folder / "report.html", "Trained weights and their prediction", sections, interactive)
    return [*written, folder / "report.html"]


def write_ablation(
    folder: Path,
    settings: Mapping[str, Any],
    runs_rows: Mapping[str, Sequence[AblationRow]],
    plots: bool,
    interactive: bool,
) -> list[Path]:
    """Write all that an ablation found and return the files; arguments as in `write_findings`, rows by run."""
    folder.mkdir(parents=True, exist_ok=True)
    document, rows = ablation_document(settings, runs_rows), flat(list(runs_rows.values()))
    write_json(folder / "ablation.json", document)
    write_rows(folder / "ablation.parquet", document["rows"])
    written = [folder / "ablation.json", folder / "ablation.parquet"]
    if not plots:
        return written
    figures = ablation_figures(rows)
    written += _draw(folder, figures)
    drawn, tables = list(figures.values()), [ablation_table(rows)]
    sections = [
        Section("One weight without its leading term", [ablation_note(settings)], drawn, tables),
        _settings(settings),
    ]
    write_page(folder / "ablation.html", "What leading terms are worth", sections, interactive)
    return [*written, folder / "ablation.html"]


def ablation_document(settings: Mapping[str, Any], runs_rows: Mapping[str, Sequence[AblationRow]]) -> dict[str, Any]:
    """Return what `ablate --json` prints."""
    rows = [{"run": run, **asdict(row)} for run, own in runs_rows.items() for row in own]
    return {"settings": dict(settings), "rows": rows}


def ablation_note(settings: Mapping[str, Any]) -> str:
    """Return what an ablation measured, in words."""
    several = (
        f"{len(settings['runs'])} runs, the middle and in brackets their range; " if len(settings["runs"]) > 1 else ""
    )
    return (
        f"{several}step {settings['step']:,}, on {settings['windows']:,} of {settings['corpus_windows']:,} windows; "
        f"one weight loses its projection on its leading term, or as much of a random direction "
        f"({settings['seeds']} seeds)"
    )


def closed_form_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the losses of the trained model, the closed form and models that count; rows of one run or of several."""
    names, cells = list(rows[0])[2:], []
    for step, group in grouped(rows, lambda row: int(row["step"])).items():
        losses = (spread_text([row[name] for row in group], loss_text) for name in names)
        cells.append([step, f"{group[0]['s_eta']:.4g}", *losses])
    header = ["step", "s*lr", *(name.replace("_", " ") for name in names)]
    return Table(header, cells, "r" * len(header))


def flat(runs: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the rows of all runs as one list."""
    return [row for rows in runs for row in rows]


def verification_sections(findings: Findings, figures: Mapping[str, "Figure"]) -> list[Section]:
    """Return the parts of the page of a verification, settings last."""
    first = findings.verifications[0]
    together = spread([found.rows for found in findings.verifications])
    horizons = [found.horizons for found in findings.verifications]
    signs = horizon_notes(horizons)
    sections = [
        Section("What is proved", [*statement(first.theorem), *findings.notes]),
        Section(
            "How far the prediction carries",
            [*(f"lines: the middle of {len(findings.runs)} seeds; bands: all" for _ in findings.runs[1:2]), *signs],
            [figures[name] for name in ("cosine", "gap", "loss")],
            [horizon_table(horizons), checkpoint_table(together)],
        ),
        Section(
            "Deviations and bounds", [], [figures["bounds"], figures["relative_error"]],
            [bound_table(together, first.theorem)],
        ),
    ]  # fmt: skip
    if findings.truncation:
        title, tables = "What the leading terms of the gradients neglect", [truncation_table(flat(findings.truncation))]
        sections.append(Section(title, [], [figures["truncation"]], tables))
    if findings.closed_form:
        tables = [closed_form_table(flat(findings.closed_form))]
        sections.append(Section("The closed form as a language model", ["losses in nats"], [], tables))
    return [*sections, _settings(findings.settings)]


def _settings(settings: Mapping[str, Any]) -> Section:
    return Section("Settings", tables=[Table(["setting", "value"], [[n, str(v)] for n, v in settings.items()])])


def _draw(folder: Path, figures: Mapping[str, "Figure"]) -> list[Path]:
    paths = {folder / f"{name}.png": figure for name, figure in figures.items()}
    write_png(paths)
    return list(paths)
