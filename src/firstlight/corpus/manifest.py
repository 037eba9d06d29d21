"""The manifest: all facts about a corpus, with a checksum of every file and of itself."""

from pathlib import Path
from typing import Any

from firstlight.corpus.corpus import FORMAT, FORMAT_VERSION, MANIFEST, open_corpus
from firstlight.corpus.sources import Source
from firstlight.errors import FirstlightError
from firstlight.files import fingerprint, sha256_of, write_json
from firstlight.version import __version__

_HASHED_WHOLE = 2**30  # a file that --limit cut short is only hashed whole if it is smaller than this


def write_manifest(folder: Path, names: list[str], facts: dict[str, Any]) -> None:
    """Write the manifest of the named files in a folder; equal builds write equal manifests."""
    paths = [folder / name for name in names]
    files = {path.name: {"bytes": path.stat().st_size, "sha256": sha256_of(path)} for path in paths}
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "firstlight": __version__,
        **facts,
        "files": files,
    }
    write_json(folder / MANIFEST, {**manifest, "seal": fingerprint(manifest)})


def describe(source: Source) -> dict[str, Any]:
    """Return what tells a source apart, without times, which differ between equal builds."""
    facts: dict[str, Any] = {"name": source.name, "kind": source.kind}
    if source.path is not None:
        facts["bytes"] = source.size
    if source.kind == "text":
        facts["separator"] = source.detail
    return facts


def checksum(source: Source, read_to_the_end: bool) -> dict[str, str]:
    """Return the checksum of a source's file, unless --limit spared reading most of a large one."""
    if source.path is None or not (read_to_the_end or source.size < _HASHED_WHOLE):
        return {}
    return {"sha256": source.checksum()}


def unchanged(out: Path, settings: dict[str, Any], sources: list[Source], tokenizer: str | None) -> bool:
    """Tell whether a folder holds the corpus that a build with these settings would make again.

    What cannot be vouched for is built again: a file without a checksum, a corpus that does not open.
    """
    if not out.exists():
        return False
    try:
        manifest = open_corpus(out).manifest
    except FirstlightError:
        return False
    if manifest["settings"] != settings or len(manifest["sources"]) != len(sources):
        return False
    if tokenizer is not None and manifest["tokenizer"]["sha256"] != tokenizer:
        return False
    for source, before in zip(sources, manifest["sources"], strict=True):
        if any(before.get(key) != value for key, value in describe(source).items()):
            return False
        if source.kind == "stories" and manifest["firstlight"] != __version__:  # another grammar, perhaps
            return False
        if source.path is not None and ("sha256" not in before or before["sha256"] != source.checksum()):
            return False
    return True
