"""The one plot style: lines with bands, bars, heat maps; interactive HTML and PNG of the same figure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.report.images import draw

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Okabe and Ito's colours: told apart by every kind of colour vision. Yellow is left out, it is too light for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
WIDTH, HEIGHT = 900, 460
_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
_GRID = "#e6e6e6"
_LEGEND_LINE = 30  # a legend that is higher than its plot cannot be read to its end

Number = float | None


@dataclass(frozen=True)
class Line:
    """One line of a plot, with a band around it where there is a spread.

    Attributes:
        name: in the legend.
        x: places; None breaks the line.
        y: values; None breaks the line.
        low: the lower edge of the band, or nothing.
        high: its upper edge.
        colour: a number into COLOURS, or a CSS colour.
        dash: a number into DASHES.
        pale: draws it wide, pale and without points, as something to compare the other lines with.
        points: single measurements, such as seeds: small dots that no line joins.
    """

    name: str
    x: Sequence[Number]
    y: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()
    colour: int | str = 0
    dash: int = 0
    pale: bool = False
    points: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes:
        title: what it shows.
        log: whether it is logarithmic; values that are not positive are then left out.
        between: its ends, or what the data need.
    """

    title: str
    log: bool = False
    between: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bars:
    """One colour of bars, with whiskers where there is a spread.

    Attributes:
        name: in the legend.
        values: one for each label.
        low: the lower end of each whisker, or nothing.
        high: its upper end.
        colour: a number into COLOURS, or a CSS colour.
    """

    name: str
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    colour: int | str = 0


@dataclass(frozen=True)
class Mark:
    """A vertical line with a word beside it.

    Attributes:
        x: where.
        text: the word.
        colour: of both.
    """

    x: float
    text: str
    colour: str = "#666666"


def line_plot(title: str, x: Axis, y: Axis, lines: Sequence[Line], marks: Sequence[Mark] = ()) -> "Figure":
    """Draw lines against a common axis; a line of one point only is a dot."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for line in lines:
        colour = _colour(line.colour)
        xs, heights = _shown(line.x, x.log), _shown(line.y, y.log)
        # A point that has no place must not stretch the other axis.
        ys = [None if place is None else height for place, height in zip(xs, heights, strict=True)]
        if line.low:
            low, high = _shown(line.low, y.log), _shown(line.high, y.log)
            inside = [i for i in range(len(xs)) if None not in (xs[i], low[i], high[i])]
            edge = [xs[i] for i in inside], [high[i] for i in inside], [low[i] for i in inside]
            figure.add_trace(
                go.Scatter(
                    x=edge[0] + edge[0][::-1], y=edge[1] + edge[2][::-1], fill="toself", fillcolor=_faint(colour, 0.18),
                    line={"width": 0}, hoverinfo="skip", showlegend=False, legendgroup=line.name, mode="lines",
                )
            )  # fmt: skip
        if line.points:
            shown = [(at, height) for at, height in line.points if (at > 0 or not x.log) and (height > 0 or not y.log)]
            figure.add_trace(
                go.Scatter(
                    x=[at for at, _ in shown], y=[height for _, height in shown], mode="markers",
                    marker={"size": 4, "color": _faint(colour, 0.55)}, showlegend=False, legendgroup=line.name,
                )
            )  # fmt: skip
        style = {"color": colour, "width": 2, "dash": DASHES[line.dash % len(DASHES)]}
        mode = "lines+markers" if sum(v is not None for v in ys) <= 60 else "lines"
        if line.pale:
            style, mode = style | {"color": _faint(colour, 0.4), "width": 7}, "lines"
        figure.add_trace(
            go.Scatter(x=xs, y=ys, name=line.name, mode=mode, legendgroup=line.name, marker={"size": 5}, line=style)
        )
    for mark in marks:
        figure.add_vline(x=mark.x, line={"color": mark.colour, "width": 1.5, "dash": "dot"})
        # Plotly puts the lines of a logarithmic axis at the value, but words at its logarithm.
        figure.add_annotation(
            x=math.log10(mark.x) if x.log else mark.x, y=1.0, yref="paper", yanchor="bottom", showarrow=False,
            text=mark.text, font={"size": 12, "color": mark.colour},
        )  # fmt: skip
    return _styled(figure, title, x, y)


def bar_plot(title: str, labels: Sequence[str], y: Axis, groups: Sequence[Bars]) -> "Figure":
    """Draw groups of bars side by side above their labels."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for bars in groups:
        whiskers: dict[str, Any] | None = None
        if bars.low:
            up = [high - value for high, value in zip(bars.high, bars.values, strict=True)]
            down = [value - low for low, value in zip(bars.low, bars.values, strict=True)]
            whiskers = {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "thickness": 1.5}
        shown = _shown(bars.values, y.log)
        figure.add_trace(
            go.Bar(x=list(labels), y=shown, name=bars.name, marker_color=_colour(bars.colour), error_y=whiskers)
        )
    figure.update_layout(barmode="group", bargap=0.25)
    return _styled(figure, title, Axis(""), y)


def heat_map(
    title: str, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[Number]], bar_title: str = ""
) -> "Figure":
    """Draw a matrix; one with negative entries has white at zero and colours that go as far on both sides."""
    import plotly.graph_objects as go

    finite = [abs(v) for line in values for v in line if v is not None and math.isfinite(v)]
    signed = any(v is not None and v < 0 for line in values for v in line)
    reach = max(finite, default=1.0) or 1.0
    # Blue for more, orange for less: the first two colours of every other plot.
    scale = [[0, "#D55E00"], [0.5, "#ffffff"], [1, "#0072B2"]] if signed else [[0, "#ffffff"], [1, "#0072B2"]]
    figure = go.Figure(
        go.Heatmap(
            z=[list(line) for line in values], x=list(columns), y=list(rows), colorscale=scale, xgap=1, ygap=1,
            zmin=-reach if signed else 0, zmax=reach, colorbar={"title": {"text": bar_title}, "thickness": 14},
        )
    )  # fmt: skip
    styled = _styled(figure, title, Axis(""), Axis(""))
    styled.update_layout(height=max(HEIGHT, 120 + 20 * len(rows)))
    styled.update_xaxes(type="category", showgrid=False, tickangle=-45 if len(columns) > 8 else 0)
    return styled.update_yaxes(type="category", showgrid=False, autorange="reversed")


def star_plot(title: str, centre: str, values: Mapping[str, float]) -> "Figure":
    """Draw a word with arrows to others around it, wider for larger values, which stand on them."""
    import plotly.graph_objects as go

    largest = max(values.values(), default=1.0)
    turns = [math.tau * place / max(1, len(values)) + math.pi / 2 for place in range(len(values))]
    ends = [(1.6 * math.cos(turn), math.sin(turn)) for turn in turns]
    figure = go.Figure()
    for (x, y), (word, value) in zip(ends, values.items(), strict=True):
        figure.add_annotation(
            x=0.83 * x, y=0.83 * y, ax=0.16 * x, ay=0.16 * y, xref="x", yref="y", axref="x", ayref="y", text="",
            arrowhead=2, arrowwidth=1 + 4 * value / largest, arrowcolor=COLOURS[5], standoff=4,
        )  # fmt: skip
        figure.add_annotation(x=0.5 * x, y=0.5 * y, text=f"{value:.3g}", showarrow=False, bgcolor="white", borderpad=1)
        figure.add_annotation(x=x, y=y, text=word, showarrow=False, font={"size": 17})
    figure.add_annotation(x=0, y=0, text=f"<b>{centre}</b>", showarrow=False, font={"size": 20, "color": COLOURS[1]})
    styled = _styled(figure, title, Axis("", between=(-2, 2)), Axis("", between=(-1.25, 1.25)))
    return styled.update_xaxes(visible=False).update_yaxes(visible=False)


def write_png(figures: Mapping[Path, "Figure"]) -> None:
    """Write figures as PNG files."""
    for path, image in zip(figures, draw(list(figures.values()), "png"), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image)


def fragment(figure: "Figure", identity: str) -> str:
    """Return a figure as HTML that needs plotly.js on the page.

    Arguments:
        figure: the figure.
        identity: the id of its element, so that the same figure is the same text.
    """
    text: str = figure.to_html(
        full_html=False, include_plotlyjs=False, div_id=identity, config={"displaylogo": False, "responsive": True}
    )
    return text


def _styled(figure: "Figure", title: str, x: Axis, y: Axis) -> "Figure":
    figure.update_layout(
        template="none",
        width=WIDTH,
        height=max(HEIGHT, 145 + _LEGEND_LINE * sum(trace.showlegend is not False for trace in figure.data)),
        font={"family": _FONT, "size": 14, "color": "#222222"},
        title={"text": title, "x": 0.01, "xanchor": "left", "font": {"size": 17}},
        margin={"l": 80, "r": 20, "t": 60, "b": 70},
        plot_bgcolor="white",
        paper_bgcolor="white",
        legend={"x": 1.01, "y": 1, "yanchor": "top", "font": {"size": 13}, "itemwidth": 45},
        hovermode="closest",
    )
    for axis, name, update in ((x, "x", figure.update_xaxes), (y, "y", figure.update_yaxes)):
        update(
            title={"text": axis.title, "standoff": 14},
            gridcolor=_GRID,
            linecolor="#888888",
            zeroline=False,
            showline=True,
            ticks="outside",
            automargin=True,
            **_scale(axis, _values(figure, name)),
        )
    return figure


def _values(figure: "Figure", axis: str) -> list[Any]:
    return [value for trace in figure.data for value in (getattr(trace, axis, None) or ())]


def _scale(axis: Axis, values: Sequence[Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if axis.log:
        ends = axis.between or [value for value in values if value is not None] or [1.0]
        decades = math.log10(max(ends)) - math.log10(min(ends))
        settings |= {"type": "log", "exponentformat": "power", "dtick": max(1, math.ceil(decades / 8))}
        if decades <= 2.5:
            # Written out, for plotly writes 5 for 0.5, 5 and 50 alike.
            lowest = math.floor(math.log10(min(ends)))
            places = [digit * 10.0**power for power in range(lowest, lowest + 5) for digit in (1, 2, 5)]
            settings |= {"tickvals": places, "ticktext": [f"{place:g}" for place in places]}
    if axis.between:
        settings["range"] = [math.log10(end) for end in axis.between] if axis.log else list(axis.between)
    return settings


def _shown(values: Sequence[Number], log: bool) -> list[Number]:
    """Return what can be drawn: None for what is not a number, and for what has no logarithm."""
    return [v if v is not None and math.isfinite(v) and (v > 0 or not log) else None for v in values]


def _colour(colour: int | str) -> str:
    return colour if isinstance(colour, str) else COLOURS[colour % len(COLOURS)]


def _faint(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
