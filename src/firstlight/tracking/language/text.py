"""Sentences as text, both ways: `x7 = g12(x3); x3 = 4; x7 = 1`, a sentence a line."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from firstlight.errors import FirstlightError
from firstlight.tracking.language.action import Action
from firstlight.tracking.language.sentences import Sentences

_NUMBER = "(0|[1-9][0-9]{0,8})"
_PREDICATE = re.compile(rf"x{_NUMBER} = g{_NUMBER}\(x{_NUMBER}\)")
_ANSWER = re.compile(rf"x{_NUMBER} = {_NUMBER}")


def printed(sentences: Sentences, answers: int | None = None) -> Iterator[str]:
    """Write sentences, a line each: all predicates in order, then answers 0 to `answers`, or all of them."""
    check_answers(answers, sentences.length)
    last = sentences.length if answers is None else answers
    names = [f"x{number}" for number in range(int(sentences.variables.max(initial=0)) + 1)]
    elements = [f" = g{number}(" for number in range(sentences.action.order)]
    values = [f" = {number}" for number in range(sentences.action.degree)]
    for numbers, applied, reached in zip(
        sentences.variables.tolist(), sentences.elements.tolist(), sentences.values.tolist(), strict=True
    ):
        x = [names[number] for number in numbers]
        clauses = [f"{new}{elements[g]}{old})" for new, g, old in zip(x[1:], applied, x[:-1], strict=True)]
        clauses += [name + values[value] for name, value in zip(x[: last + 1], reached[: last + 1], strict=True)]
        yield "; ".join(clauses)


def check_answers(answers: int | None, length: int) -> None:
    """Refuse a last answer that sentences do not have; None is the last they have."""
    if answers is not None and not 0 <= answers <= length:
        raise FirstlightError(f"answers up to {answers}: expected 0..{length}, the length of the sentences")


def parsed(lines: str | Iterable[str], action: Action, *, variables: int | None = None) -> Sentences:
    """Read sentences of one length, each a line, as `printed` writes them; blank lines are passed over.

    Answers may stop after any but the first; the values of the others follow from it. An answer that does not follow is
    an error, as is a clause out of order.

    Arguments:
        lines: the text, or its lines.
        action: what elements do.
        variables: how many there are, where a larger number is to be an error.
    """
    read = [
        _Line(number, line.strip(), action, variables)
        for number, line in enumerate(lines.splitlines() if isinstance(lines, str) else lines, start=1)
        if line.strip()
    ]
    found = [line.sentence() for line in read]
    for line, (_, elements, _) in zip(read, found, strict=True):
        if len(elements) != len(found[0][1]):
            raise FirstlightError(
                f"line {line.number}: {len(elements)} predicates, where line {read[0].number} has {len(found[0][1])}; "
                "expected sentences of one length"
            )
    length = len(found[0][1]) if found else 0
    shapes = (length + 1, length, length + 1)
    arrays = [np.array([part[k] for part in found], np.int64).reshape(len(found), n) for k, n in enumerate(shapes)]
    return Sentences(action, *arrays)


@dataclass
class _Line:
    """A sentence while it is read, clause by clause."""

    number: int
    text: str
    action: Action
    variables: int | None
    chain: list[int] = field(default_factory=list)
    elements: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    clause: int = 0

    def sentence(self) -> tuple[list[int], list[int], list[int]]:
        """Return variables, elements and values."""
        answers = 0
        for clause in self.text.split(";"):
            self.clause += 1
            stripped = clause.strip()
            if found := _PREDICATE.fullmatch(stripped):
                if answers:
                    raise self._wrong(stripped, "expected an answer: predicates come before all answers")
                self._predicate(stripped, *(int(part) for part in found.groups()))
            elif found := _ANSWER.fullmatch(stripped):
                self._answer(stripped, answers, int(found[1]), int(found[2]))
                answers += 1
            else:
                raise self._wrong(stripped, "expected a predicate such as x3 = g12(x2) or an answer such as x3 = 4")
        if not answers:
            raise FirstlightError(f"line {self.number}: no answer; expected at least x{self.chain[0]} = its value")
        return self.chain, self.elements, self.values

    def _predicate(self, clause: str, new: int, element: int, old: int) -> None:
        self.chain = self.chain or [self._variable(clause, old)]
        if old != self.chain[-1]:
            raise self._wrong(clause, f"expected an action on x{self.chain[-1]}, the last variable before")
        if self._variable(clause, new) in self.chain:
            raise self._wrong(clause, f"x{new} occurs before; expected a new variable")
        if element >= self.action.order:
            raise self._wrong(clause, f"expected an element of {self.action.name}, g0..g{self.action.order - 1}")
        self.chain.append(new)
        self.elements.append(element)

    def _answer(self, clause: str, place: int, variable: int, value: int) -> None:
        if not self.elements:
            raise self._wrong(clause, "expected a predicate first")
        if place == len(self.chain):
            raise self._wrong(clause, "expected the end of the line: every variable has its answer")
        if variable != self.chain[place]:
            raise self._wrong(clause, f"expected the answer of x{self.chain[place]}")
        if value >= self.action.degree:
            raise self._wrong(clause, f"expected a value of 0..{self.action.degree - 1}")
        if not place:
            self.values = [value]
            for element in self.elements:
                self.values.append(int(self.action.images[element, self.values[-1]]))
        if value != self.values[place]:
            raise self._wrong(clause, f"expected x{variable} = {self.values[place]}, which follows from the predicates")

    def _variable(self, clause: str, number: int) -> int:
        if self.variables is not None and number >= self.variables:
            raise self._wrong(clause, f"expected variables x0..x{self.variables - 1}")
        return number

    def _wrong(self, clause: str, expected: str) -> FirstlightError:
        return FirstlightError(f"line {self.number}, clause {self.clause} {clause!r}: {expected}")
