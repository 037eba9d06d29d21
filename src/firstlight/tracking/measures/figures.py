"""Accuracy and attention against length."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firstlight.report.plots import Axis, Line, line_plot

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Spread = Sequence[Mapping[str, Any]]
FEW = 3  # groups of which more than one line each can be told apart
REACH = (-0.02, 1.02)  # of shares, so that 0 and 1 can be seen


def accuracy_figure(spread: Spread, title: str) -> "Figure":
    """Draw accuracy against length.

    One group gets a line for each measure, several groups get one colour each, and many one line each. The band of
    roll-outs is their 95 % interval for a single run, and from the least to the largest of several.
    """
    groups = list(dict.fromkeys(row["group"] for row in spread))
    lines = []
    for number, group in enumerate(groups):
        rows = [row for row in spread if row["group"] == group]
        alone = len(groups) == 1
        shown = {"rollout": "all values right", "final": "last value right"}
        if len(groups) > FEW:
            del shown["final"]
        if alone:
            shown |= {"value_probability": "P(right value)", "teacher_forced": "ACC_L"}
        for place, (name, words) in enumerate(shown.items()):
            ends = ("rollout_low", "rollout_high") if name == "rollout" and rows[0]["runs"] == 1 else (name, name)
            of = f": {words}" if len(groups) <= FEW else ""
            lines.append(_line(rows, name, words if alone else f"{group}{of}", place if alone else number, place, ends))
    share = "share" if len(groups) <= FEW else "share of sentences with all values right"
    return line_plot(_titled(title, groups), Axis("length L", log=True), Axis(share, between=REACH), lines)


def attention_figure(spread: Spread, title: str) -> "Figure":
    """Draw where heads look against length; several groups get dashes of their own."""
    places = list(dict.fromkeys((row["group"], row["head"]) for row in spread))
    groups = list(dict.fromkeys(group for group, _ in places))
    shown = {"predicate": "predicate", "answer": "answer", "epsilon": "neither"}
    lines = []
    for number, (group, head) in enumerate(places):
        rows = [row for row in spread if (row["group"], row["head"]) == (group, head)]
        of = f"{group}, " if len(groups) > 1 else ""
        for colour, (name, words) in enumerate(shown.items()):
            lines.append(_line(rows, name, f"{of}head {head}: {words}", colour, number, (name, name)))
    return line_plot(_titled(title, groups), Axis("length L", log=True), Axis("attention", between=REACH), lines)


def _titled(title: str, groups: Sequence[str]) -> str:
    return f"{title}: {groups[0]}" if len(groups) == 1 else title


def _line(rows: Spread, name: str, words: str, colour: int, dash: int, ends: tuple[str, str]) -> Line:
    low = [row[ends[0]]["low"] for row in rows]
    high = [row[ends[1]]["high"] for row in rows]
    flat = low == high
    lengths, middle = [row["length"] for row in rows], [row[name]["middle"] for row in rows]
    return Line(words, lengths, middle, () if flat else low, () if flat else high, colour, dash)
