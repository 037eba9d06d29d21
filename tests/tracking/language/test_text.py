"""Sentences as text: what is printed is read back, and what is not of the form is told with its place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from firstlight.errors import FirstlightError
from firstlight.tracking.language.names import action_named
from firstlight.tracking.language.sampling import draw
from firstlight.tracking.language.sentences import Sentences
from firstlight.tracking.language.text import parsed, printed

ACTIONS = [action_named(name) for name in ("C1", "C6", "S3", "Q8", "A4xC5", "(1 2 3)(4 5),(1 2)")]


@settings(deadline=None)
@given(some.data())
def test_what_is_printed_is_read_back(data: some.DataObject) -> None:
    action = data.draw(some.sampled_from(ACTIONS))
    length = data.draw(some.integers(1, 12))
    sentences = draw(
        action,
        variables=data.draw(some.integers(length + 1, 1000)),
        length=length,
        count=data.draw(some.integers(1, 4)),
        rng=np.random.default_rng(data.draw(some.integers(0, 2**32))),
    )
    lines = list(printed(sentences, data.draw(some.none() | some.integers(0, length))))
    for text in ("\n".join(lines), lines, "\n\n".join(lines) + "\n"):
        read = parsed(text, action, variables=1000)
        assert (read.variables == sentences.variables).all()
        assert (read.elements == sentences.elements).all()
        assert (read.values == sentences.values).all()


def test_the_form_is_that_of_the_paper() -> None:
    numbers = ([[4, 2, 3]], [[1, 5]], [[0, 1, 0]])
    sentences = Sentences(action_named("C6"), *(np.array(each) for each in numbers))
    assert list(printed(sentences)) == ["x2 = g1(x4); x3 = g5(x2); x4 = 0; x2 = 1; x3 = 0"]
    assert list(printed(sentences, 0)) == ["x2 = g1(x4); x3 = g5(x2); x4 = 0"]


def test_no_text_is_no_sentences() -> None:
    assert len(parsed("\n", action_named("C6"))) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x2 = g1(x4); x4 = 0; x2 = 2", r"line 1, clause 3 'x2 = 2': expected x2 = 1, which follows"),
        ("x2 = g1(x4)", r"line 1: no answer; expected at least x4 = its value"),
        ("x4 = 0", r"line 1, clause 1 'x4 = 0': expected a predicate first"),
        ("x2 = g1(x4); x4 = 0\nx2 = g6(x4); x4 = 0", r"line 2, clause 1 'x2 = g6\(x4\)': expected an element of C6"),
        ("x2 = g1(x4); x4 = 6", r"clause 2 'x4 = 6': expected a value of 0..5"),
        ("x2 = g1(x4); x2 = 1", r"clause 2 'x2 = 1': expected the answer of x4"),
        ("x2 = g1(x4); x3 = g1(x4); x4 = 0", r"clause 2 'x3 = g1\(x4\)': expected an action on x2"),
        ("x2 = g1(x4); x4 = g1(x2); x4 = 0", r"clause 2 'x4 = g1\(x2\)': x4 occurs before; expected a new variable"),
        ("x2 = g1(x2); x2 = 0", r"clause 1 'x2 = g1\(x2\)': x2 occurs before"),
        ("x2 = g1(x4); x4 = 0; x3 = g1(x2)", r"clause 3 'x3 = g1\(x2\)': expected an answer: predicates come before"),
        ("x2 = g1(x4); x4 = 0; x2 = 1; x2 = 1", r"clause 4 'x2 = 1': expected the end of the line"),
        ("x2 = g1(x4);", r"clause 2 '': expected a predicate such as x3 = g12\(x2\) or an answer such as x3 = 4"),
        ("x2=g1(x4); x4 = 0", r"clause 1 'x2=g1\(x4\)': expected a predicate"),
        ("x02 = g1(x4); x4 = 0", r"clause 1 'x02 = g1\(x4\)': expected a predicate"),
        ("x2 = g1(x4); x4 = -1", r"clause 2 'x4 = -1': expected"),
        ("x2 = g1(x4); x4 = 1 # note", r"clause 2 'x4 = 1 # note': expected"),
        ("x2 = g1(x\u0664); x4 = 1", r"clause 1 .*: expected a predicate"),
        ("x99999999999999999999 = g1(x4); x4 = 1", r"clause 1 .*: expected a predicate"),
        ("x20 = g1(x4); x4 = 1", r"clause 1 'x20 = g1\(x4\)': expected variables x0..x19"),
        ("x4 = g1(x20); x20 = 1", r"expected variables x0..x19"),
        ("x2 = g1(x4); x4 = 0\n\nx2 = g1(x4); x3 = g1(x2); x4 = 0",
         r"line 3: 2 predicates, where line 1 has 1; expected sentences of one length"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_line_and_clause(text: str, message: str) -> None:
    with pytest.raises(FirstlightError, match=message):
        parsed(text, action_named("C6"), variables=20)


def test_answers_beyond_the_last_are_refused() -> None:
    sentences = draw(action_named("C6"), variables=9, length=3, count=1, rng=np.random.default_rng(0))
    with pytest.raises(FirstlightError, match=r"answers up to 4: expected 0..3"):
        list(printed(sentences, 4))
