"""Named tensors in a safetensors file: written whole or not at all, and read back only if nothing was damaged."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open

from firstlight.errors import FirstlightError

FORMAT = "firstlight tensors 1"


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors atomically, with a digest of their content in the header beside the metadata."""
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header = {**metadata, "format": FORMAT, "sha256": digest(held)}
    temporary = path.with_name(path.name + ".tmp")
    safetensors.torch.save_file(held, temporary, header)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def read_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Read tensors and metadata; a file that is not what was written is an error that names it."""
    metadata = read_header(path)
    try:
        tensors = safetensors.torch.load_file(path)
    except (SafetensorError, OSError) as error:
        raise FirstlightError(f"{path}: damaged: {' '.join(str(error).split())}") from None
    if digest(tensors) != metadata.get("sha256"):
        raise FirstlightError(f"{path}: damaged: its tensors are not what its header recorded")
    return tensors, metadata


def read_header(path: Path) -> dict[str, str]:
    """Read the metadata alone."""
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
    except FileNotFoundError:
        raise FirstlightError(f"{path}: not found") from None
    except (SafetensorError, OSError) as error:
        raise FirstlightError(f"{path}: damaged: {' '.join(str(error).split())}") from None
    if metadata.get("format") != FORMAT:
        raise FirstlightError(f"{path}: format {metadata.get('format')!r}, expected {FORMAT!r}")
    return dict(metadata)


def digest(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return a SHA-256 of names, shapes, types and bytes that does not depend on the order of the names."""
    hasher = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        hasher.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        # The bytes of any type, bfloat16 too, which NumPy does not know.
        hasher.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return hasher.hexdigest()
