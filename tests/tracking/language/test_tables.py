"""Files of tables: those that are groups or actions are read, and each way not to be one is named."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstlight.errors import FirstlightError
from firstlight.tracking.language.cayley import cayley_table
from firstlight.tracking.language.names import action_named

# A loop: every row and column has each element once, 0 is the identity, and it is not associative.
LOOP = [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]]
C3 = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]


def written(folder: Path, content: Any, suffix: str = ".json") -> str:
    path = folder / f"table{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps(content))
    elif suffix == ".npy":
        np.save(path, np.array(content))
    else:
        np.savetxt(path, np.array(content), fmt="%d", delimiter=",")
    return str(path)


@pytest.mark.parametrize("suffix", [".json", ".npy", ".csv"])
def test_a_cayley_table_acts_on_itself(tmp_path: Path, suffix: str) -> None:
    table = cayley_table(action_named("Q8"))
    action = action_named(written(tmp_path, table.tolist(), suffix))
    assert (action.images == table).all()
    assert (cayley_table(action) == table).all()
    assert action.name.endswith(f"table{suffix}")


def test_the_identity_need_not_come_first_in_a_file(tmp_path: Path) -> None:
    order = np.random.default_rng(0).permutation(6)
    place = np.argsort(order)
    renamed = place[cayley_table(action_named("S3"))[np.ix_(order, order)]]
    action = action_named(written(tmp_path, renamed.tolist()))
    assert (action.images[0] == np.arange(6)).all()
    assert {tuple(row) for row in action.images.tolist()} == {tuple(row) for row in renamed.tolist()}


@pytest.mark.parametrize("suffix", [".json", ".npy", ".csv"])
def test_a_table_of_images_is_read_in_any_order(tmp_path: Path, suffix: str) -> None:
    images = action_named("F20").images
    shuffled = np.random.default_rng(1).permutation(images)
    assert (action_named(written(tmp_path, shuffled.tolist(), suffix)).images == images).all()


def test_a_square_table_of_images_says_so(tmp_path: Path) -> None:
    # Four permutations of four points that are a group, with an orbit of one point each: no Cayley table.
    images = [[0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]]
    with pytest.raises(FirstlightError, match="not the Cayley table"):
        action_named(written(tmp_path, images))
    assert action_named(written(tmp_path, {"images": images})).order == 4


def test_a_cayley_table_and_its_images_are_read_together(tmp_path: Path) -> None:
    action = action_named("D4")
    both = {"cayley": cayley_table(action).tolist(), "images": action.images.tolist()}
    assert (action_named(written(tmp_path, both)).images == action.images).all()


def test_a_file_may_be_made_to_act_on_itself(tmp_path: Path) -> None:
    path = written(tmp_path, action_named("S3").images.tolist())
    assert (action_named(f"regular:{path}").images == action_named("regular:S3").images).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([[0, 1], [1, 2]], r"not closed: 1 \* 1 = 2, expected an element of 0..1"),
        ([[0, -1], [1, 0]], r"not closed: 0 \* 1 = -1"),
        ([[1, 0], [1, 0]], r"no identity"),
        ([[0, 1, 2], [1, 1, 2], [2, 2, 0]], r"no inverse: 1 has no right inverse, the identity being 0"),
        (LOOP, r"not associative: \((\d) \* (\d)\) \* (\d) = (\d), but \1 \* \(\2 \* \3\) = (?!\4)\d"),
        ({"cayley": C3, "images": [[0, 1, 2], [1, 0, 2], [2, 1, 0]]},
         r"not an action: 1 \* 1 = 2 sends value 0 to 2, but 1 and then 1 send it to 0"),
        ({"cayley": C3, "images": [[0, 1, 2], [0, 1, 2], [0, 1, 2]]}, r"not faithful: elements 0 and 1 have the same"),
        ({"cayley": C3, "images": [[0, 1, 2]]}, r"3 elements, but images of 1"),
        ({"cayley": [[0, 1, 2]]}, r"a Cayley table of 1 rows and 3 columns"),
        ({"images": [[0, 1, 2], [0, 0, 2]]}, r"not an action: row 1 of the images is \[0, 0, 2\]; expected each"),
        ({"images": [[0, 1, 2], [1, 2, 0]]}, r"rows 1 and then 1 of the images make \(0 2 1\), which is no row"),
        ({"images": [[1, 2, 0]]}, r"no row of the images is the identity"),
        ({"images": [[0, 1], [1, 0], [1, 0]]}, r"not faithful: elements 1 and 2 have the same images, \[1, 0\]"),
        ({"table": C3}, r"has table; expected cayley, images or both"),
        ({}, r"has nothing; expected cayley"),
        ([], r"expected a table of whole numbers"),
        ([[0, 1], [1]], r"expected a table of whole numbers"),
        ([[0.5]], r"expected a table of whole numbers"),
        ([["a"]], r"expected a table of whole numbers"),
        (3, r"expected a table of whole numbers"),
        (None, r"expected a table of whole numbers"),
        ([[0, 10**30], [1, 0]], r"expected a table of whole numbers"),
    ],
)  # fmt: skip
def test_what_is_no_group_or_no_action_is_told_in_one_line(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(FirstlightError, match=message) as error:
        action_named(written(tmp_path, content))
    assert "table.json" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("suffix", [".json", ".npy", ".csv"])
@pytest.mark.parametrize("content", [b"", b"0,1\n1,x\n", b"\x93NUMPY", b"\xff\xfe\x00", b"{"])
def test_damaged_files_are_told_in_one_line(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    with pytest.raises(FirstlightError, match="expected a table of whole numbers"):
        action_named(str(path))


def test_associativity_is_checked_for_every_element(tmp_path: Path) -> None:
    # C2 x ... with one pair of products exchanged is wrong only there.
    for g, h in [(1, 2), (5, 3), (7, 7)]:
        table = cayley_table(action_named("C2xC4")).copy()
        table[g, h] = (table[g, h] + 1) % 8
        with pytest.raises(FirstlightError, match="not the Cayley table of a group"):
            action_named(written(tmp_path, table.tolist()))
