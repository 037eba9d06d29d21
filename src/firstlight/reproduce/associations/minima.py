"""Tables of least cosines: the paper's numbers beside ours."""

from collections.abc import Mapping, Sequence
from statistics import median

from firstlight.report.page import Table
from firstlight.reproduce.associations.experiment import Trained, least_cosines
from firstlight.theory.tables import cosine_text
from firstlight.theory.terms import KINDS, Kind

# How near ours must be to the paper's for `reproduced`, and above what for `partly`.
NEAR, PARTLY = 0.01, 0.9


def minima_table(paper: Mapping[Kind, float], trained: Sequence[Trained]) -> Table:
    """Return the least cosines at the ends of epochs, of every run and both leading terms."""
    header, columns = ["weights", "paper"], []
    for each in trained:
        for of, rows in (("whole corpus", each.rows), ("first batch", each.first_rows)):
            if rows:
                header.append(f"{each.title}, terms of the {of}")
                columns.append([least_cosines(one, each.epoch) for one in rows])
    cells = [
        [
            kind,
            cosine_text(paper[kind]) if kind in paper else "not given",
            *(_range([least[kind] for least in column]) for column in columns),
        ]
        for kind in KINDS
    ]
    return Table(header, cells, "l" + "r" * (len(header) - 1))


def verdict(paper: Mapping[Kind, float], trained: Trained) -> str:
    """Return in a sentence how near the least cosines are to the paper's, the least of all seeds counting."""
    per_run = [least_cosines(rows, trained.epoch) for rows in trained.rows]
    ours = {kind: min(least[kind] for least in per_run) for kind in KINDS}
    off = {kind: paper[kind] - ours[kind] for kind in paper}
    worst = max(off, key=lambda kind: off[kind])
    word = (
        "Reproduced" if off[worst] <= NEAR else "Partly" if min(ours[k] for k in paper) >= PARTLY else "Not reproduced"
    )
    seeds = f", {len(per_run)} seeds" if len(per_run) > 1 else ""
    return (
        f"{word}: at the ends of epochs to s·η = {trained.s_eta:g} ({trained.title}{seeds}) the least cosines are "
        + ", ".join(f"{kind} {cosine_text(ours[kind])}" for kind in paper)
        + f"; the farthest below the paper's is {worst}, by {max(off[worst], 0):.2g}. "
        f"The position term, which the paper does not report, falls to {cosine_text(ours['position'])}. "
        f"(`Reproduced` means none more than {NEAR:g} below, `partly` none below {PARTLY:g}.)"
    )


def _range(values: Sequence[float]) -> str:
    if len(values) == 1:
        return cosine_text(values[0])
    return f"{cosine_text(median(values))} ({cosine_text(min(values))} to {cosine_text(max(values))})"
