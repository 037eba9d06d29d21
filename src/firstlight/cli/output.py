"""What every command shares: the option for JSON, and printing it."""

import json
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else on stdout.")]


def print_json(value: Any) -> None:
    """Print a JSON document on stdout."""
    print(json.dumps(value, indent=1, ensure_ascii=False))
