"""What every command shares: the option for JSON, and printing it."""

import json
import sys
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else on stdout.")]


def print_json(value: Any) -> None:
    """Print a JSON document on stdout."""
    # Where the terminal cannot write every character, JSON has its own way to spell them.
    spelled = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(value, indent=1, ensure_ascii=spelled))
