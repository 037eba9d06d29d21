"""The entry point: every mistake of the user's ends in one line on stderr and exit code 2."""

import io
import os
import sys
from typing import Annotated, Any, cast

import typer

from firstlight.cli import bench, corpus, demo, lego, predict, reproduce, statistics, train, verify
from firstlight.errors import FirstlightError
from firstlight.version import __version__

# Typer carries its own copy of click and exports only some of its exceptions: this is the base of its usage errors.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
INTERRUPTED = 130

app = typer.Typer(
    help="From data alone: what a transformer learns first and how far it carries, checked against real training.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(corpus.app, name="corpus")
app.add_typer(statistics.app, name="stats")
app.add_typer(lego.app, name="lego")
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("verify")(verify.verify)
app.command("ablate")(verify.ablate)
app.command("reproduce")(reproduce.reproduce)
app.command("demo")(demo.demo)
app.command("bench")(bench.bench)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"firstlight {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line and exit: 0 on success, 2 on bad usage or input, 1 on failure."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A token the terminal cannot write is better spelled \u201c than a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        code = app(arguments or ["--help"], prog_name="firstlight", standalone_mode=False)
        if sys.stdout is not None:  # as it is after `>&-`
            sys.stdout.flush()
    except FirstlightError as error:
        return _fail(str(error), 2)
    except UsageError as error:
        return _fail(_usage(error), 2)
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except SystemExit as stop:
        # Typer turns a broken pipe into this, with exit code 1.
        if isinstance(stop.__context__, BrokenPipeError):
            return _reader_left()
        raise
    except OSError as error:
        return _fail(f"{error.filename or 'system'}: {error.strerror or error}", 1)
    except MemoryError as error:
        return _fail(f"out of memory: {error}", 1)
    if code == INTERRUPTED:
        return _fail("interrupted; the same command goes on from here", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _usage(error: Any) -> str:
    """Return one line about bad usage: for a command group without a command, its commands rather than its help."""
    commands = getattr(error.ctx and error.ctx.command, "commands", None)
    if commands and error.ctx.invoked_subcommand is None and "No such" not in error.format_message():
        return f"{error.ctx.command_path}: a command is missing; expected one of {', '.join(commands)}"
    return f"{error.format_message()} (see --help)"


def _reader_left() -> int:
    """The reader of a pipe went away, as `head` does: not a failure, and nobody is left to tell."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
    return 0


def _fail(message: str, code: int) -> int:
    print(f"firstlight: {' '.join(message.split())}", file=sys.stderr)
    return code
