"""The transitive groups of degree at most 7, numbered as Butler and McKay do, and GAP, PARI and LMFDB after them."""

import re

# Entry k of a degree n is the group nTk: a name of this language, and its order. Those of degree 6 without a letter of
# their own are elsewhere called 6T2 D_6(6), 6T4 A_4(6), 6T5 F_18(6), 6T6 2A_4(6), 6T7 S_4(6d), 6T8 S_4(6c),
# 6T9 F_18(6):2, 6T10 F_36(6), 6T11 2S_4(6), 6T12 L(6), 6T13 F_36(6):2, 6T14 L(6):2.
TRANSITIVE: dict[int, tuple[tuple[str, int], ...]] = {
    1: (("C1", 1),),
    2: (("C2", 2),),
    3: (("C3", 3), ("S3", 6)),
    4: (("C4", 4), ("V4", 4), ("D4", 8), ("A4", 12), ("S4", 24)),
    5: (("C5", 5), ("D5", 10), ("F20", 20), ("A5", 60), ("S5", 120)),
    6: (
        ("C6", 6),
        ("regular:S3", 6),
        ("D6", 12),
        ("A4/(1 2)(3 4)", 12),
        ("C3wrC2", 18),
        ("C2wrC3", 24),
        ("S4/(1 2),(3 4)", 24),
        ("S4/C4", 24),
        ("(1 2 3),(1 2)(4 5),(1 4)(2 5)(3 6)", 36),
        ("(1 2 3),(1 4 2 5)(3 6)", 36),
        ("C2wrS3", 48),
        ("PSL(2,5)", 60),
        ("S3wrC2", 72),
        ("PGL(2,5)", 120),
        ("A6", 360),
        ("S6", 720),
    ),
    7: (("C7", 7), ("D7", 14), ("F21", 21), ("F42", 42), ("PSL(3,2)", 168), ("A7", 2520), ("S7", 5040)),
}


def transitive_name(text: str) -> str | None:
    """Return the plain name of `5T3` or `T5.3`, or None where a text is no such number."""
    found = re.fullmatch(r"(\d+)T(\d+)|T(\d+)\.(\d+)", text)
    if not found:
        return None
    degree, number = (int(part) for part in found.groups() if part)
    groups = TRANSITIVE.get(degree, ())
    return groups[number - 1][0] if 0 < number <= len(groups) else None


def transitive_names() -> list[str]:
    """Return 1T1 to 7T7."""
    return [f"{degree}T{number + 1}" for degree, groups in TRANSITIVE.items() for number in range(len(groups))]
