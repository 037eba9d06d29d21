"""Actions in words and tables, and as JSON."""

from typing import Any

from firstlight.report.tables import format_table
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.cycles import in_cycles
from firstlight.tracking.language.facts import Facts

_FORMS = [
    ["C6, Z6", "cyclic group", "on itself"],
    ["V4, Q8, Q12", "Klein's four-group, (generalised) quaternions", "on itself"],
    ["S5, A5", "symmetric and alternating group", "on 5 points"],
    ["D5", "dihedral group of 10 elements", "on the 5 corners"],
    ["F20, F21", "Frobenius group of p k elements", "y to a y + b on p points"],
    ["PSL(2,5), PGL(2,5)", "projective groups over a prime field", "on the p + 1 points of the line"],
    ["PSL(3,2)", "= GL(3,2)", "on the 7 nonzero vectors"],
    ["6T9, T6.9", "a transitive group by its number", "on as many points"],
    ["C2xC3", "product", "on pairs of values"],
    ["C2wrC3", "wreath product", "on copies of the values"],
    ["S4/S3, S5/F20, S4/(1 2),(3 4)", "a group by a subgroup", "on the cosets"],
    ["regular:S3", "any group", "on itself"],
    ["(1 2 3)(4 5),(1 2)", "what permutations generate", "on their points"],
    ["FILE.json, .npy, .csv", "a Cayley table, or the images of all elements", "on itself, or as the images say"],
]
_SHOWN_DEGREE = 12


def known_table(known: list[Facts]) -> str:
    """Return the forms of names, and the groups that have a number, one a line."""
    rows = [
        [f.number, f.name, f.degree, f.order, f.stabiliser, *map(_yes, (f.free, f.abelian, f.solvable)), f.complexity]
        for f in known
    ]
    header = ["number", "name", "degree", "order", "stabiliser", "free", "abelian", "solvable", "complexity"]
    return (
        f"names of actions\n\n{format_table(['for example', 'group', 'acts'], _FORMS)}\n\n"
        f"all transitive groups of degree at most 7\n\n{format_table(header, rows, 'llrrr')}"
    )


def document(facts: Facts) -> dict[str, Any]:
    """Return what `--json` prints of an action."""
    return {
        **{name: getattr(facts, name) for name in ("name", "number", "order", "degree", "transitive", "orbits")},
        **{name: getattr(facts, name) for name in ("free", "simply_transitive", "stabiliser", "abelian", "solvable")},
        "derived_series": facts.derived_series,
        "complexity": facts.complexity,
        "fibres": facts.fibres.tolist(),
        "share": facts.share.tolist(),
    }


def explained(facts: Facts) -> str:
    """Return the facts of an action, each with what it means."""
    series = " > ".join(f"{order:,}" for order in facts.derived_series)
    rows: list[list[Any]] = [
        ["number", *_number(facts)],
        ["order", facts.order, "elements"],
        ["degree", facts.degree, f"values, 0..{facts.degree - 1}"],
        ["transitive", _yes(facts.transitive), _orbits(facts)],
        ["stabiliser", *_stabiliser(facts)],
        ["free", _yes(facts.free), "only the identity leaves a value where it is" if facts.free else _not_free(facts)],
        ["abelian", _yes(facts.abelian), "any two elements commute" if facts.abelian else "some do not commute"],
        ["solvable", _yes(facts.solvable), f"orders of the derived series: {series}"],
        ["complexity", facts.complexity, _complexity(facts)],
    ]
    return f"{format_table(['action', facts.name, ''], rows)}\n\n{_fibres(facts)}"


def _number(facts: Facts) -> tuple[str, str]:
    if facts.number:
        return facts.number, "among the transitive groups of its degree"
    return "-", "only transitive groups of degree at most 7 have one here"


def _orbits(facts: Facts) -> str:
    if facts.simply_transitive:
        return "simply transitive: exactly one element sends y to j"
    if facts.transitive:
        return "every value can be sent to every other"
    shown = ", ".join("{" + " ".join(map(str, orbit)) + "}" for orbit in facts.orbits[:_SHOWN_DEGREE])
    more = len(facts.orbits) - _SHOWN_DEGREE
    return f"{len(facts.orbits)} orbits: {shown}{f' and {more} more' if more > 0 else ''}"


def _stabiliser(facts: Facts) -> tuple[str, str]:
    if facts.transitive:
        alone = "the identity alone leaves" if facts.stabilisers[0] == 1 else "elements leave"
        return f"{facts.stabilisers[0]:,}", f"{alone} a given value where it is"
    shown = " ".join(map(str, facts.stabilisers[:_SHOWN_DEGREE]))
    more = " ..." if facts.degree > _SHOWN_DEGREE else ""
    return f"{shown}{more}", "elements leave the values 0, 1, ... where they are"


def _not_free(facts: Facts) -> str:
    value = next(y for y, size in enumerate(facts.stabilisers) if size > 1)
    return f"value {value} is left where it is by {facts.stabilisers[value]:,} elements, the identity among them"


def _complexity(facts: Facts) -> str:
    if facts.solvable:
        return "the word problem of a solvable group is in TC0"
    return "the word problem of a group that is not solvable is NC1-complete"


def _fibres(facts: Facts) -> str:
    if facts.transitive:
        size = facts.order // facts.degree
        elements = "1 element sends" if size == 1 else f"{size:,} elements send"
        return (
            f"fibres: {elements} y to j, whichever y and j are, a share of 1/{facts.degree} of all: "
            "uniform actions make every next value equally likely"
        )
    if facts.degree > _SHOWN_DEGREE:
        return f"fibres: --json has the {facts.degree} x {facts.degree} sizes"
    sizes = [[f"to {j}", *row] for j, row in enumerate(facts.fibres.tolist())]
    header = ["fibres", *(f"from {y}" for y in range(facts.degree))]
    return format_table(header, sizes, "l" + "r" * facts.degree)


def element_table(action: Action) -> str:
    """Return all elements by number, in cycles and as images."""
    rows = [
        [f"g{number}", in_cycles(images), " ".join(map(str, images.tolist()))]
        for number, images in enumerate(action.images)
    ]
    return format_table(["element", "cycles", f"images of 0..{action.degree - 1}"], rows)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"
