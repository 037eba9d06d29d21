"""Tokenizers: the words of the paper, byte-level BPE learnt from the corpus, and any tokenizer.json.

None adds a token of its own: what a tokenizer.json's post-processor would put around a text (a BOS, an EOS), and its
padding and truncation, are switched off.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Int32

from firstlight.corpus.hub import quiet_hub
from firstlight.corpus.word_counts import WordCounts
from firstlight.errors import FirstlightError
from firstlight.files import read_json, write_atomically, write_json

if TYPE_CHECKING:
    from tokenizers import Tokenizer as HuggingFace

    from firstlight.corpus.word_table import WordTable

Ids: TypeAlias = Int32[np.ndarray, " token"]

UNKNOWN = "<unk>"
TRAINING_CHARACTERS = 512 * 2**20
"""BPE is learnt from at most this many characters of the corpus, its first ones."""

_SLICE = 8192
_COUNTED_TOGETHER = 2**19  # characters
_ENDLESS = re.compile(r"[^\W\d_]{1001,}")
_WORD = re.compile(r"[^\W\d_]+|\S")
_FILE = "tokenizer.json"


def words_of(text: str) -> list[str]:
    """Return the words of a text: runs of letters, and every other character by itself; white space is dropped.

    This is the definition. Corpora are built by `WordTable`, which finds the same words faster.
    """
    return _WORD.findall(text.lower())


@runtime_checkable
class Tokenizer(Protocol):
    """What a build needs of a tokenizer.

    Attributes:
        size: V, one more than the largest id that can occur.
        unknown: the id that stands for what is outside the vocabulary, or None if there is no such thing; an id of V
            marks such a token without being one.
        bos: the id put before each document, or None.
        facts: how the manifest describes it.
    """

    size: int
    unknown: int | None
    bos: int | None
    facts: dict[str, Any]

    def encode(self, texts: list[str]) -> list[Ids]:
        """Return the ids of each text."""
        ...

    def vocabulary(self) -> list[str]:
        """Return the token of each id."""
        ...

    def save(self, folder: Path) -> None:
        """Write the files `load` reads."""
        ...


@dataclass
class Words:
    """The word tokenizer of the paper."""

    known: list[str]
    has_others: bool
    oov: str
    bos_token: str | None

    def __post_init__(self) -> None:
        keeps_unknown = self.oov == "unk" and self.has_others
        if self.bos_token in self.known or (keeps_unknown and self.bos_token == UNKNOWN):
            raise FirstlightError(f"--bos {self.bos_token}: already in the vocabulary; expected one such as <bos>")
        self._entries = [*self.known, *([UNKNOWN] if keeps_unknown else [])]
        self.bos: int | None = None
        if self.bos_token is not None:
            self.bos = len(self._entries)
            self._entries.append(self.bos_token)
        self.size = len(self._entries)
        self._outside = len(self.known) if keeps_unknown else self.size
        self.unknown: int | None = self._outside
        self.facts: dict[str, Any] = {
            "kind": "words",
            "pattern": _WORD.pattern,
            "lower_case": True,
            "unknown": UNKNOWN if keeps_unknown else None,
        }

    def encode(self, texts: list[str]) -> list[Ids]:
        """Return the ids of each text."""
        found, bounds = self._table.scan([text.lower() for text in texts], insert=False)
        ids = np.where(found < 0, np.int32(self._outside), found)
        return [ids[start:end] for start, end in pairwise(bounds.tolist())]

    @cached_property
    def _table(self) -> "WordTable":
        from firstlight.corpus.word_table import WordTable

        return WordTable(self.known)

    def vocabulary(self) -> list[str]:
        """Return the token of each id."""
        return self._entries

    def save(self, folder: Path) -> None:
        """Write the words."""
        write_json(folder / "words.json", {"known": self.known, "has_others": self.has_others})


def learn_words(texts: Iterable[str], folder: Path, size: int, oov: str, bos: str | None) -> Words:
    """Return the tokenizer whose vocabulary is the most frequent words of the texts."""
    counts = WordCounts(folder)
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text)
        if characters >= _COUNTED_TOGETHER:
            counts.add(batch)
            batch, characters = [], 0
    counts.add(batch)
    known, has_others = counts.most_frequent(size)
    return Words(known, has_others, oov, bos)


class Pieces:
    """A tokenizer of Hugging Face's library, as a tokenizer.json describes it."""

    def __init__(self, content: bytes, name: str, bos: str | None, facts: dict[str, Any]) -> None:
        from tokenizers import Tokenizer as HuggingFace

        try:
            description = json.loads(content)
            self._tokenizer: HuggingFace = HuggingFace.from_str(content.decode("utf-8"))
        except Exception as error:  # the library raises bare Exception for whatever does not parse
            reason = " ".join(str(error).split())
            raise FirstlightError(f"{name}: not a tokenizer.json: {reason}") from None
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        if facts["kind"] == "bpe":  # where a text spells the BOS, these are ordinary characters
            self._tokenizer.encode_special_tokens = True
        self._content = content
        self._token_of = {number: token for token, number in self._tokenizer.get_vocab(with_added_tokens=True).items()}
        if not self._token_of:
            raise FirstlightError(f"{name}: its vocabulary is empty")
        self.size = max(self._token_of) + 1
        self.unknown = _unknown_of(description["model"], self._tokenizer)
        self.bos: int | None = None
        if bos is not None:
            self.bos = self._tokenizer.token_to_id(bos)
            if self.bos is None:
                raise FirstlightError(f"--bos {bos}: not a token of {name}")
        self.facts = {
            **facts,
            "file": _FILE,
            "sha256": sha256(content).hexdigest(),
            "normalizer": _kinds(description.get("normalizer"), "normalizers"),
            "pre_tokenizer": _kinds(description.get("pre_tokenizer"), "pretokenizers"),
            "post_processor_not_applied": _kinds(description.get("post_processor"), "processors"),
            "unknown": None if self.unknown is None else self._token_of[self.unknown],
        }

    def encode(self, texts: list[str]) -> list[Ids]:
        """Return the ids of each text."""
        coded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [np.array(each.ids, np.int32) for each in coded]

    def vocabulary(self) -> list[str]:
        """Return the token of each id; an id without one is named after its number."""
        return [self._token_of.get(number, f"<id:{number}>") for number in range(self.size)]

    def save(self, folder: Path) -> None:
        """Write the tokenizer.json, byte for byte as it came."""
        write_atomically(folder / _FILE, self._content)


def learn_bpe(texts: Iterable[str], size: int, bos: str | None) -> Pieces:
    """Return byte-level BPE learnt from the first texts, with all 256 bytes so that nothing is ever unknown."""
    from tokenizers import Tokenizer as HuggingFace
    from tokenizers import decoders, models, pre_tokenizers, trainers

    special = [] if bos is None else [bos]
    if size < 256 + len(special):
        raise FirstlightError(f"--vocab-size {size}: byte-level BPE needs at least {256 + len(special)}, its bytes")
    tokenizer = HuggingFace(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=special,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    read = 0

    def first() -> Iterator[str]:
        nonlocal read
        for text in texts:
            if read + len(text) > TRAINING_CHARACTERS:
                return
            read += len(text)
            yield from _slices(text)

    tokenizer.train_from_iterator(first(), trainer)
    return Pieces(tokenizer.to_str().encode(), "bpe", bos, {"kind": "bpe", "characters_trained_on": read})


def _slices(text: str) -> Iterator[str]:
    """Cut a text for the trainer, which holds hundreds at once.

    Where there is no white space, runs of letters that are no words are left out: they would take the trainer
    quadratic time and memory for each letter.
    """
    start = 0
    while len(text) - start > _SLICE:
        space = max(text.rfind(" ", start + 1, start + _SLICE), text.rfind("\n", start + 1, start + _SLICE))
        if space > 0:
            yield text[start:space]
        else:
            space = start + _SLICE
            yield _ENDLESS.sub("", text[start:space])
        start = space
    yield text[start:]


def load_pieces(name: str, bos: str | None) -> Pieces:
    """Return the tokenizer of `hf:ID` or of a tokenizer.json file."""
    path = _download(name.removeprefix("hf:"), name) if name.startswith("hf:") else Path(name)
    if path.is_dir():
        raise FirstlightError(
            f"--tokenizer {name}: a folder; expected words, bpe, hf:ID or the path of a tokenizer.json"
        )
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FirstlightError(
            f"--tokenizer {name}: {path} not found; expected words, bpe, hf:ID or the path of a tokenizer.json"
        ) from None
    except OSError as error:
        raise FirstlightError(f"--tokenizer {name}: cannot be read: {error.strerror}") from None
    return Pieces(content, f"--tokenizer {name}", bos, {"kind": "hf" if name.startswith("hf:") else "file"})


def reload(folder: Path, facts: dict[str, Any], oov: str, bos: str | None) -> Words | Pieces:
    """Return the tokenizer that an interrupted build saved."""
    if facts["kind"] == "words":
        saved = read_json(folder / "words.json", "the saved words")
        return Words(saved["known"], saved["has_others"], oov, bos)
    kept: dict[str, Any] = {key: facts[key] for key in ("kind", "characters_trained_on") if key in facts}
    return Pieces((folder / _FILE).read_bytes(), str(folder / _FILE), bos, kept)


def _download(name: str, given: str) -> Path:
    folder = Path(name)
    if folder.is_dir():
        return folder / _FILE
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise FirstlightError(f"--tokenizer {given}: needs the hub's client: pip install 'firstlight[hf]'") from None
    try:
        with quiet_hub():
            return Path(hf_hub_download(name, _FILE))
    except Exception as error:  # offline, unknown, gated, not a valid name: all are the user's to mend
        reason = " ".join(str(error).split())[:200]
        raise FirstlightError(
            f"--tokenizer {given}: no {_FILE} to be had from the hub ({type(error).__name__}: {reason}); "
            "expected a local folder or a model of the hub"
        ) from None


def _unknown_of(model: dict[str, Any], tokenizer: "HuggingFace") -> int | None:
    if model.get("unk_id") is not None:  # Unigram names it by number
        return int(model["unk_id"])
    token = model.get("unk_token")
    return None if token is None else tokenizer.token_to_id(token)


def _kinds(part: dict[str, Any] | None, several: str) -> list[str]:
    """Return the types of a tokenizer's part, with those of a sequence one by one."""
    if part is None:
        return []
    return [str(each["type"]) for each in part.get(several, [part])]
