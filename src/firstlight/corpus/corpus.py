"""A corpus on disk: windows, vocabulary, ledger and where each window came from, opened without being read."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from jaxtyping import Int32, Int64, UInt16, UInt32

from firstlight.corpus.shards import ShardedWindows
from firstlight.errors import FirstlightError
from firstlight.files import fingerprint, locked, read_json, recover, sha256_of, staging_folder

FORMAT = "firstlight corpus"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"

Windows: TypeAlias = UInt16[np.ndarray, "window place"] | UInt32[np.ndarray, "window place"] | ShardedWindows


@dataclass(frozen=True)
class Corpus:
    """N windows of T+1 token ids, and all that is known of where they came from.

    Attributes:
        path: the folder.
        manifest: what its manifest.json says: settings, sources, tokenizer, ledger, checksums.
    """

    path: Path
    manifest: dict[str, Any]

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The token of each id."""
        return tuple(read_json(self.path / "vocabulary.json", "the vocabulary of the corpus"))

    @property
    def window(self) -> int:
        """T: the positions of a window, one fewer than its tokens."""
        return int(self.manifest["window"])

    @cached_property
    def windows(self) -> Windows:
        """The N x (T+1) token ids, memory-mapped; a short window is padded after its end (see `lengths`)."""
        shards = [self._map(name) for name in self.manifest["shards"]]
        return shards[0] if len(shards) == 1 else ShardedWindows(shards)

    @cached_property
    def lengths(self) -> Int32[np.ndarray, " window"]:
        """How many tokens of each window are data: T+1 unless it is short."""
        if self.manifest["short_windows"]:
            return self._map("lengths.npy")
        return np.broadcast_to(np.int32(self.window + 1), (self.manifest["windows"],))

    @cached_property
    def origins(self) -> Int64[np.ndarray, "window 4"]:
        """Where each window came from: source, document in the source, place of the document, token in the document.

        The place is a byte offset in the decompressed file (.txt, .jsonl), a row (.parquet, hf:, tokens:) or the
        number of a story. The token offset counts what was added to the document, such as a BOS.
        """
        return self._map("origins.npy")

    @property
    def positions(self) -> int:
        """The positions that have a next token: the sum of `lengths` - 1."""
        return int(self.manifest["positions"])

    @property
    def ledger(self) -> dict[str, Any]:
        """Documents and tokens read, kept, and excluded by each reason."""
        return cast(dict[str, Any], self.manifest["ledger"])

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of the content: vocabulary, windows and their lengths."""
        files = self.manifest["files"]
        names = ["vocabulary.json", *self.manifest["shards"], *(["lengths.npy"] if "lengths.npy" in files else [])]
        return fingerprint([self.window, *(files[name]["sha256"] for name in names)])

    def verify(self) -> None:
        """Read every file again and raise an error that names the first one whose checksum differs."""
        for name, facts in self.manifest["files"].items():
            if sha256_of(self.path / name) != facts["sha256"]:
                raise FirstlightError(f"{self.path / name}: damaged: its content is not what the manifest recorded")
        if fingerprint(without_seal(self.manifest)) != self.manifest["seal"]:
            raise FirstlightError(f"{self.path / MANIFEST}: damaged: its content is not what its seal recorded")

    def _map(self, name: str) -> np.ndarray:
        try:
            return cast(np.ndarray, np.load(self.path / name, mmap_mode="r"))
        except (OSError, ValueError) as error:
            raise FirstlightError(f"{self.path / name}: damaged: {' '.join(str(error).split())}") from None


def open_corpus(path: str | Path) -> Corpus:
    """Open a corpus that `build_corpus` made; its files are checked for presence and size, not read."""
    path = Path(path)
    staging = path if path.exists() else staging_folder(path)
    if not path.exists() and staging.exists():
        try:
            with locked(staging):
                recover(path)
        except BlockingIOError:
            raise FirstlightError(f"{path}: a build of it is running; open it when that has ended") from None
    elif not path.exists():
        recover(path)
    if not path.exists() and staging.exists():
        raise FirstlightError(f"{path}: an unfinished build; run the same `firstlight corpus build` again to finish it")
    if not path.exists():
        raise FirstlightError(f"{path}: no corpus here; `firstlight corpus build SOURCE --out {path}` makes one")
    manifest = read_manifest(path)
    for name, facts in manifest["files"].items():
        file = path / name
        if not file.is_file():
            raise FirstlightError(f"{file}: missing; the corpus is damaged, build it again")
        if file.stat().st_size != facts["bytes"]:
            raise FirstlightError(
                f"{file}: damaged: {file.stat().st_size:,} bytes, expected {facts['bytes']:,}; build the corpus again"
            )
    return Corpus(path, manifest)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a folder, or raise an error that says why the folder is not a corpus."""
    if not (path / MANIFEST).is_file():
        raise FirstlightError(f"{path}: not a firstlight corpus: it has no {MANIFEST}")
    manifest = read_json(path / MANIFEST, "the manifest of the corpus")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FirstlightError(f"{path}: not a firstlight corpus: its {MANIFEST} is of something else")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise FirstlightError(
            f"{path}: a corpus of format {manifest.get('format_version')}, expected {FORMAT_VERSION}; build it again"
        )
    if {"files", "seal", "ledger", "shards", "window", "windows", "settings", "sources"} - manifest.keys():
        raise FirstlightError(f"{path / MANIFEST}: damaged: entries are missing; build the corpus again")
    return manifest


def without_seal(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a manifest its seal is the checksum of."""
    return {key: value for key, value in manifest.items() if key != "seal"}
