"""Whatever moment a job is killed at, its result is the old one or the new one: the steps of `publish`, one by one."""

import json
import os
import shutil
from pathlib import Path

import pytest

from firstlight import files
from firstlight.errors import FirstlightError
from firstlight.files import (
    fingerprint,
    locked,
    publish,
    read_json,
    recover,
    sha256_of,
    staging_folder,
    write_atomically,
    write_json,
)


class Killed(BaseException):
    """Stands for the end of the process."""


def folder(path: Path, content: str) -> Path:
    path.mkdir()
    (path / "result").write_text(content)
    return path


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir())


# --- small files


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_atomically(path, "old")
    write_atomically(path, b"new \xff")
    assert path.read_bytes() == b"new \xff"
    assert names(tmp_path) == ["file.json"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_kill_while_a_file_is_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "file.json"
    write_atomically(path, "old")

    def killed(*arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), killed)
        with pytest.raises(Killed):
            write_atomically(path, "new")
    assert path.read_text() == "old"
    write_atomically(path, "new")  # what the kill left is no obstacle
    assert path.read_text() == "new"
    assert names(tmp_path) == ["file.json"]


def test_json_is_written_for_people_and_read_back(tmp_path: Path) -> None:
    value = {"token": "fin“", "count": [1, 2]}
    write_json(tmp_path / "a.json", value)
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert "fin“" in text
    assert text.endswith("}\n")
    assert read_json(tmp_path / "a.json", "it") == value == json.loads(text)


@pytest.mark.parametrize("content", [b'{"half', b"", b"\xff\xfe"])
def test_json_that_is_missing_or_damaged_is_named(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(FirstlightError, match=r"a\.json: the journal not found"):
        read_json(tmp_path / "a.json", "the journal")
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(FirstlightError, match=r"a\.json: the journal is damaged"):
        read_json(tmp_path / "a.json", "the journal")


def test_checksums(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256_of(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1}) != fingerprint({"a": 1, "b": [3]})


# --- publishing


def test_publishing_gives_the_folder_its_name(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert staging_folder(out) == tmp_path / "out.partial"
    for content in ("first", "second"):
        publish(folder(staging_folder(out), content), out)
        assert (out / "result").read_text() == content
        assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_a_kill_between_any_two_steps_leaves_a_whole_result(tmp_path: Path, done: int) -> None:
    out = folder(tmp_path / "out", "old")
    staging = folder(staging_folder(out), "new")
    replaced = files._replaced_folder(out)
    steps = [
        lambda: out.rename(replaced),
        lambda: staging.rename(out),
        lambda: shutil.rmtree(replaced),
    ]
    for step in steps[:done]:
        step()
    recover(out)
    assert (out / "result").read_text() == ("new" if done >= 2 else "old")
    assert not replaced.exists()
    if done < 2:  # the job goes on and publishes
        publish(staging, out)
        assert (out / "result").read_text() == "new"
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_publish_itself_takes_these_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int) -> None:
    out = folder(tmp_path / "out", "old")
    staging = folder(staging_folder(out), "new")
    rename, taken = Path.rename, []

    def killed_after(self: Path, target: Path) -> Path:
        if len(taken) == renames:
            raise Killed
        taken.append(self.name)
        return rename(self, target)

    def killed(*arguments: object, **options: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed_after)
        patched.setattr(shutil, "rmtree", killed)
        with pytest.raises(Killed):
            publish(staging, out)
    assert taken == ["out", "out.partial"][:renames]
    recover(out)
    assert (out / "result").read_text() == ("new" if renames == 2 else "old")
    assert names(tmp_path) == (["out"] if renames == 2 else ["out", "out.partial"])


def test_a_kill_while_the_old_result_is_removed_leaves_the_new_one(tmp_path: Path) -> None:
    out = folder(tmp_path / "out", "new")
    files._replaced_folder(out).mkdir()  # half of it is gone
    recover(out)
    assert (out / "result").read_text() == "new"
    assert names(tmp_path) == ["out"]


def test_there_may_be_nothing_to_recover(tmp_path: Path) -> None:
    recover(tmp_path / "out")
    assert names(tmp_path) == []


# --- locks


def test_a_folder_is_held_by_one_at_a_time_and_let_go(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(BlockingIOError), locked(tmp_path):
        pass
    with pytest.raises(Killed), locked(tmp_path):
        raise Killed
    with locked(tmp_path):
        pass
