"""`firstlight lego groups` and `firstlight lego sample`: actions explained, and sentences drawn."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.output import Json, print_json
from firstlight.errors import FirstlightError
from firstlight.report.progress import Advance, progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firstlight.tracking.language.sentences import Sentences

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Such as C6, D5, S5, A5, V4, Q8, F20, C2xC3, C2wrC3, PSL(2,5), regular:S3, S4/S3, 6T9, "
        "'(1 2 3),(1 2)', table.json.",
    ),
]


def groups(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="An action. [list the known ones]")] = None,
    elements: Annotated[bool, typer.Option("--elements", help="List all elements, in cycles and as images.")] = False,
    as_json: Json = False,
) -> None:
    """Explain an action: order, degree, stabiliser, free, solvable, complexity class, fibres."""
    from firstlight.cli.lego import words
    from firstlight.tracking.language.facts import facts_of
    from firstlight.tracking.language.names import action_named
    from firstlight.tracking.language.transitive import TRANSITIVE

    if name is None:
        if elements:
            raise FirstlightError("--elements: expected the NAME of an action before it")
        known = [facts_of(action_named(each)) for alike in TRANSITIVE.values() for each, _ in alike]
        print_json({"groups": [words.document(facts) for facts in known]}) if as_json else print(
            words.known_table(known)
        )
        return
    action = action_named(name)
    facts = facts_of(action)
    if as_json:
        listed = {"images": action.images.tolist()} if elements else {}
        print_json({**words.document(facts), **listed})
        return
    print(words.explained(facts))
    if elements:
        print(f"\n{words.element_table(action)}")


def sample(
    name: Name,
    length: Annotated[int, typer.Option(help="Actions in a sentence, L.")],
    count: Annotated[int, typer.Option(min=0, help="Sentences.")] = 1,
    variables: Annotated[int, typer.Option(help="How many there are to choose from, |X|.")] = 170,
    answers: Annotated[int | None, typer.Option(help="Print answers up to this one. [all]")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same sentences.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A .parquet file to write instead of printing.")] = None,
    as_json: Json = False,
) -> None:
    """Draw sentences: a line each, or as JSON, or into a Parquet file."""
    from firstlight.tracking.language.names import action_named
    from firstlight.tracking.language.sampling import numbered
    from firstlight.tracking.language.text import check_answers, printed

    check_answers(answers, length)
    action = action_named(name)
    batches = numbered(action, variables=variables, length=length, count=count, seed=seed)
    settings = {"length": length, "variables": variables, "seed": seed}
    if out is not None:
        if answers is not None:
            raise FirstlightError("--answers with --out: files hold all answers; expected one or the other")
        _write(out, batches, {"count": count, **settings}, as_json)
    elif as_json:
        _print_json(batches, {"name": action.name, **settings}, answers)
    else:
        for batch in batches:
            for line in printed(batch, answers):
                print(line)


def _write(out: Path, batches: "Iterator[Sentences]", settings: dict[str, Any], as_json: bool) -> None:
    from firstlight.tracking.language.sentence_files import write_sentences

    if out.suffix != ".parquet" or out.is_dir():
        raise FirstlightError(f"--out {out}: expected a file name that ends with .parquet")
    if not out.parent.is_dir():
        raise FirstlightError(f"--out {out}: the folder {out.parent} does not exist")
    with progress("sentences", settings["count"], "sentences") as advance:
        count = write_sentences(out, _counted(batches, advance), settings)
    if as_json:
        print_json({"path": str(out), "bytes": out.stat().st_size, **settings})
    else:
        print(f"{out}: {count:,} sentences of {settings['length']:,} actions, columns variables, elements, values")


def _counted(batches: "Iterator[Sentences]", advance: Advance) -> "Iterator[Sentences]":
    for batch in batches:
        yield batch
        advance(len(batch))


def _print_json(batches: "Iterator[Sentences]", settings: dict[str, Any], answers: int | None) -> None:
    """Print one document sentence by sentence, so that a large count takes no more memory than a small one."""
    from firstlight.tracking.language.text import printed

    print(json.dumps(settings)[:-1] + ', "sentences": [', end="")
    separator = "\n"
    for batch in batches:
        images = batch.action.images.tolist()
        for k, text in enumerate(printed(batch, answers)):
            sentence = {
                "initial": int(batch.values[k, 0]),
                "actions": [images[element] for element in batch.elements[k].tolist()],
                "elements": batch.elements[k].tolist(),
                "values": batch.values[k].tolist(),
                "variables": batch.variables[k].tolist(),
                "text": text,
            }
            print(separator + json.dumps(sentence), end="")
            separator = ",\n"
    print("\n]}")
