"""What the user asked of a build, checked before anything is read."""

from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

from firstlight.errors import FirstlightError

LEARNT = ("words", "bpe")


def is_text(string: str) -> bool:
    """Whether a string can be written: JSON and file names can have halves of surrogate pairs, which UTF-8 has not."""
    return not any("\ud800" <= character <= "\udfff" for character in string)


@dataclass(frozen=True)
class Settings:
    """The options of a build as they were given; `build_corpus` says what each means."""

    tokenizer: str = "words"
    vocab_size: int | None = None
    window: int | None = None
    windows: str = "first"
    oov: str = "exclude"
    limit: int | None = None
    min_chars: int = 0
    min_tokens: int | None = None
    bos: str | None = None
    text_column: str = "text"
    vocab: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("windows", self.windows, ("first", "chunk")),
            ("oov", self.oov, ("exclude", "unk")),
        ):
            if value not in choices:
                raise FirstlightError(f"--{name} {value}: expected {' or '.join(choices)}")
        for name, number, least in (
            ("window", self.window, 1),
            ("vocab-size", self.vocab_size, 1),
            ("limit", self.limit, 1),
            ("min-chars", self.min_chars, 0),
            ("min-tokens", self.min_tokens, 2),
            ("seed", self.seed, 0),
        ):
            if number is not None and number < least:
                raise FirstlightError(f"--{name} {number}: expected at least {least}")
        for given in astuple(self):
            if isinstance(given, str) and not is_text(given):
                raise FirstlightError(f"{given}: came with bytes that are not UTF-8, expected text")
        if self.bos == "":
            raise FirstlightError("--bos: came empty, expected a token")


@dataclass(frozen=True)
class TextSettings:
    """The options of a build from text, with the defaults filled in."""

    tokenizer: str
    vocab_size: int | None  # None where the tokenizer has a vocabulary of its own
    window: int
    windows: str
    oov: str
    limit: int | None
    min_chars: int
    min_tokens: int
    bos: str | None
    text_column: str
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Return the options by name."""
        return asdict(self)


@dataclass(frozen=True)
class TokenSettings:
    """The options of a build from `tokens:` files."""

    window: int | None
    limit: int | None
    vocab: str

    def as_dict(self) -> dict[str, Any]:
        """Return the options by name."""
        return asdict(self)


def settings_for_text(asked: Settings) -> TextSettings:
    """Fill in the defaults for sources of text; options that do not go with them are errors."""
    learnt = asked.tokenizer in LEARNT
    if not learnt and asked.vocab_size is not None:
        raise FirstlightError(
            f"--vocab-size {asked.vocab_size}: {asked.tokenizer} has its own vocabulary; leave the option out"
        )
    if asked.vocab is not None:
        raise FirstlightError("--vocab: only goes with tokens: files; text has the vocabulary of its tokenizer")
    window = 200 if asked.window is None else asked.window
    return TextSettings(
        tokenizer=asked.tokenizer,
        vocab_size=(asked.vocab_size or 3000) if learnt else None,
        window=window,
        windows=asked.windows,
        oov=asked.oov,
        limit=asked.limit,
        min_chars=asked.min_chars,
        min_tokens=window + 1 if asked.min_tokens is None else asked.min_tokens,
        bos=asked.bos,
        text_column=asked.text_column,
        seed=asked.seed,
    )


def settings_for_tokens(asked: Settings) -> TokenSettings:
    """Return the options for `tokens:` files; those about text have no place there."""
    for option in fields(Settings):
        fits = option.name in ("window", "limit", "vocab", "seed")
        if not fits and getattr(asked, option.name) != option.default:
            name = "--" + option.name.replace("_", "-")
            raise FirstlightError(f"{name}: does not go with tokens: files, whose windows are made already")
    if asked.vocab is None:
        raise FirstlightError("tokens: files need --vocab FILE.json, a list with the token of each id")
    if not Path(asked.vocab).is_file():
        raise FirstlightError(f"--vocab {asked.vocab}: file not found")
    return TokenSettings(asked.window, asked.limit, asked.vocab)
