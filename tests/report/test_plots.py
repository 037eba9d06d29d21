"""Plots and pages: the same figure as PNG and as HTML, and a report that needs nothing else."""

import re
import struct
from pathlib import Path

import pytest

from firstlight.errors import FirstlightError
from firstlight.report import images
from firstlight.report.images import draw
from firstlight.report.page import Section, Table, write_page
from firstlight.report.plots import Axis, Bars, Line, Mark, bar_plot, fragment, heat_map, line_plot, write_png

LINE = Line("a", [0.01, 0.1, 1.0], [1.0, None, 0.5], [0.9, None, 0.4], [1.1, None, 0.6])


def test_png_files_are_drawn_at_twice_the_size(tmp_path: Path) -> None:
    figure = line_plot("a title", Axis("x", log=True), Axis("y"), [LINE], [Mark(0.1, "here")])
    write_png({tmp_path / "sub" / "plot.png": figure, tmp_path / "again.png": figure})
    image = (tmp_path / "sub" / "plot.png").read_bytes()
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", image[16:24]) == (2 * figure.layout.width, 2 * figure.layout.height)
    assert image == (tmp_path / "again.png").read_bytes()


def test_what_is_no_number_or_has_no_logarithm_is_left_out() -> None:
    line = Line("a", [1.0, 2.0, 3.0, 4.0], [0.0, -1.0, float("nan"), 7.0])
    assert list(line_plot("", Axis("x"), Axis("y", log=True), [line]).data[0].y) == [None, None, None, 7.0]
    assert list(line_plot("", Axis("x"), Axis("y"), [line]).data[0].y) == [0.0, -1.0, None, 7.0]


def test_a_point_without_a_place_does_not_stretch_the_other_axis() -> None:
    line = Line("a", [0.0, 1.0], [1e-15, 0.5])
    assert list(line_plot("", Axis("x", log=True), Axis("y", log=True), [line]).data[0].y) == [None, 0.5]


def test_a_legend_fits_beside_the_plot_and_bands_have_no_line_in_it() -> None:
    lines = [Line(str(number), [1.0, 2.0], [1.0, 2.0], [0.0, 1.0], [2.0, 3.0]) for number in range(14)]
    layout = line_plot("", Axis("x"), Axis("y"), lines).layout
    # A line of the legend is 30 high.
    assert 14 * 30 + 10 <= layout.height - layout.margin.t - layout.margin.b < 14 * 30 + 40


def test_what_others_are_compared_with_is_pale() -> None:
    trace = line_plot("", Axis("x"), Axis("y"), [Line("a", [1.0, 2.0], [1.0, 2.0], pale=True)]).data[0]
    assert (trace.mode, trace.line.width, trace.line.color) == ("lines", 7, "rgba(0,114,178,0.4)")


def test_a_band_goes_there_and_back_around_what_is_known() -> None:
    band = line_plot("", Axis("x"), Axis("y"), [LINE]).data[0]
    assert list(band.x) == [0.01, 1.0, 1.0, 0.01]
    assert list(band.y) == [1.1, 0.6, 0.4, 0.9]


def test_a_mark_stands_at_its_place_on_a_logarithmic_axis() -> None:
    figure = line_plot("", Axis("x", log=True), Axis("y"), [LINE], [Mark(0.1, "here")])
    assert figure.layout.annotations[0].x == pytest.approx(-1)
    assert figure.layout.shapes[0].x0 == pytest.approx(0.1)


def test_labels_of_many_decades_are_few() -> None:
    wide = Line("a", [1.0, 2.0], [1e-20, 1e4])
    assert line_plot("", Axis("x"), Axis("y", log=True), [wide]).layout.yaxis.dtick == 3
    assert line_plot("", Axis("x"), Axis("y", log=True, between=(0.1, 10)), [wide]).layout.yaxis.range == (-1, 1)


def test_bars_have_whiskers_from_low_to_high() -> None:
    bar = bar_plot("", ["p", "q"], Axis("y"), [Bars("a", [1.0, 2.0], [0.5, 1.0], [1.25, 4.0])]).data[0]
    assert list(bar.error_y.array) == [0.25, 2.0]
    assert list(bar.error_y.arrayminus) == [0.5, 1.0]


@pytest.mark.parametrize(("low", "ends"), [(-1.0, (-3, 3)), (0.0, (0, 3))])
def test_a_heat_map_has_white_at_zero(low: float, ends: tuple[float, float]) -> None:
    cells = heat_map("", ["r"], ["c", "d", "e"], [[low, None, 3.0]]).data[0]
    assert (cells.zmin, cells.zmax) == ends
    white = 0.5 if low < 0 else 0
    assert (white, "#ffffff") in cells.colorscale


def test_a_fragment_is_the_same_text_each_time() -> None:
    figure = line_plot("t", Axis("x"), Axis("y"), [LINE])
    assert fragment(figure, "one") == fragment(figure, "one")
    assert 'id="one"' in fragment(figure, "one")


@pytest.mark.parametrize("interactive", [False, True])
def test_a_page_needs_nothing_else(tmp_path: Path, interactive: bool) -> None:
    figure = line_plot("a < b", Axis("x"), Axis("y"), [LINE])
    table = Table(["name", "value"], [["<b>", 0.123456], ["n", 12345]], "lr")
    sections = [Section("First", ["one & two"], [figure, figure], [table]), Section("Second", figures=[figure])]
    write_page(tmp_path / "report.html", "The <title>", sections, interactive)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>The &lt;title&gt;</title>" in text
    assert '<td>&lt;b&gt;</td><td class="r">0.1235</td>' in text
    assert "12,345" in text
    assert "one &amp; two" in text
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href)=["']?(?!data:)[^"' >]+""", outside)
    assert text.count("Plotly.newPlot") >= (3 if interactive else 0)
    assert len(text) > 4e6 if interactive else len(text) < 2e5
    assert outside.count("data:image/svg+xml") == (0 if interactive else 3)


def test_a_browser_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = line_plot("", Axis("x"), Axis("y"), [LINE])
    monkeypatch.setattr(images, "_command", lambda: ["/bin/echo", '{"code": 7, "message": "as if"}'])
    with pytest.raises(FirstlightError, match="as if"):
        draw([figure], "png")
    monkeypatch.setattr(images, "_command", lambda: ["/bin/true"])
    with pytest.raises(FirstlightError, match="the browser of kaleido failed"):
        draw([figure], "png")
    assert draw([], "png") == []


def test_a_missing_package_is_named_with_the_extra_that_brings_it() -> None:
    with pytest.raises(FirstlightError, match=r"package no_such_package; `pip install 'firstlight\[plots\]'`"):
        images._package("no_such_package")


def test_single_measurements_are_dots_without_a_line_or_an_entry_in_the_legend() -> None:
    line = Line("mean", [1.0, 10.0], [0.5, 0.6], points=[(1.0, 0.4), (1.0, 0.6), (0.0, 9.0)])
    dots, mean = line_plot("", Axis("x", log=True), Axis("y"), [line]).data
    assert (dots.mode, dots.showlegend, list(dots.x), list(dots.y)) == ("markers", False, [1.0, 1.0], [0.4, 0.6])
    assert mean.name == "mean"
