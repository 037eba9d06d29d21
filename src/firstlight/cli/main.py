"""The entry point: every mistake of the user's ends in one line on stderr and exit code 2."""

import sys
from typing import Annotated

import typer

from firstlight.cli import bench, corpus, demo, statistics
from firstlight.errors import FirstlightError
from firstlight.version import __version__

# Typer carries its own copy of click and exports only some of its exceptions: this is the base of its usage errors.
UsageError = typer.BadParameter.__bases__[0]

app = typer.Typer(
    help="From data alone: what a transformer learns first and how far it carries, checked against real training.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(corpus.app, name="corpus")
app.add_typer(statistics.app, name="stats")
app.command("demo")(demo.demo)
app.command("bench")(bench.bench)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"firstlight {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line and exit: 0 on success, 2 on bad usage or input, 1 on failure."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        code = app(arguments or ["--help"], prog_name="firstlight", standalone_mode=False)
    except FirstlightError as error:
        return _fail(str(error), 2)
    except UsageError as error:
        return _fail(f"{error.format_message()} (see --help)", 2)
    except (typer.Abort, KeyboardInterrupt):
        return _fail("interrupted; the same command goes on from here", 130)
    except BrokenPipeError:
        # The reader of a pipe went away, as `head` does: not a failure, and nobody is left to tell.
        sys.stdout = None  # type: ignore[assignment]
        return 0
    except OSError as error:
        return _fail(f"{error.filename or 'system'}: {error.strerror or error}", 1)
    except MemoryError as error:
        return _fail(f"out of memory: {error}", 1)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    print(f"firstlight: {' '.join(message.split())}", file=sys.stderr)
    return code
