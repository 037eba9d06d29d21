"""The Hugging Face hub, without its log of every retry: what failed is said once, in the error."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_hub() -> Iterator[None]:
    """Keep the warnings of the hub's client off stderr while the block runs."""
    logger = logging.getLogger("huggingface_hub")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
