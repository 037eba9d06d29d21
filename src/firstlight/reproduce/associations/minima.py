"""Tables of least cosines: the paper's numbers beside ours."""

from collections.abc import Mapping, Sequence

from firstlight.report.page import Table
from firstlight.reproduce.associations.experiment import Trained, least_cosines
from firstlight.theory.tables import cosine_text, spread_text
from firstlight.theory.terms import KINDS, Kind
from firstlight.theory.verification import Row

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
            f"{paper[kind]:.6f}" if kind in paper else "not given",
            *(spread_text([least[kind] for least in column]) for column in columns),
        ]
        for kind in KINDS
    ]
    return Table(header, cells, "l" + "r" * (len(header) - 1))


def verdict(paper: Mapping[Kind, float], trained: Sequence[Trained]) -> str:
    """Return in sentences how near the least cosines are to the paper's, the least of all seeds counting.

    Arguments:
        paper: the least cosines it has.
        trained: by batches, then full batch if that was done; the word is about the last.
    """
    last = trained[-1]
    ours = _least(last, last.first_rows or last.rows)
    off = {kind: paper[kind] - ours[kind] for kind in paper}
    worst = max(off, key=lambda kind: off[kind])
    word = (
        "Reproduced" if off[worst] <= NEAR else "Partly" if min(ours[k] for k in paper) >= PARTLY else "Not reproduced"
    )
    seeds = f", {len(last.runs)} seeds" if len(last.runs) > 1 else ""
    below = "none is below the paper's"
    if off[worst] > 0:
        below = f"the farthest below the paper's is {worst}, by {off[worst]:.2g}"
    said = (
        f"{word}: at the ends of epochs to s·η = {last.s_eta:g} ({last.title}{seeds}) the least cosines are "
        f"{_told(paper, ours)}; {below}. "
        f"The position term, which the paper does not report, falls to {cosine_text(ours['position'])}. "
    )
    by_batches = trained[0]
    if by_batches is not last and by_batches.first_rows:
        way = _least(by_batches, by_batches.first_rows)
        said += (
            f"The paper's own way, {by_batches.title} beside terms of the first of them, gives {_told(paper, way)}: "
            "so few windows are far from the whole corpus. "
        )
    return said + f"(`Reproduced` means none more than {NEAR:g} below, `partly` none below {PARTLY:g}.)"


def _least(trained: Trained, rows: Sequence[Sequence[Row]]) -> dict[Kind, float]:
    per_run = [least_cosines(each, trained.epoch) for each in rows]
    return {kind: min(least[kind] for least in per_run) for kind in KINDS}


def _told(paper: Mapping[Kind, float], cosines: Mapping[Kind, float]) -> str:
    return ", ".join(f"{kind} {cosine_text(cosines[kind])}" for kind in paper)
