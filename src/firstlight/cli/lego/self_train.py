"""`firstlight lego self-train`: longer and longer sentences of a model's own answers, with the controls beside it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.lego.evaluate import Device, Interactive, Plots, lengths_within
from firstlight.cli.lego.language import Name
from firstlight.cli.lego.options import check_model, integers, practical_settings, theory_settings, with_settings
from firstlight.cli.lego.train import Model, Threads
from firstlight.cli.output import Json, print_json
from firstlight.errors import Diverged, FirstlightError
from firstlight.report.progress import say
from firstlight.report.tables import format_table

if TYPE_CHECKING:
    from firstlight.tracking.language.action import Action
    from firstlight.tracking.measures.findings import Findings
    from firstlight.tracking.measures.subjects import Subject

THEORY_STAGES, PRACTICAL_STAGES = "4,8", "10,20,40"


@with_settings
def self_train(
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder of the runs.")],
    model: Model = "theory",
    stages: Annotated[
        str | None,
        typer.Option(help=f"L of each stage; theory: 4,8,...,2^K. [{THEORY_STAGES}, or {PRACTICAL_STAGES}]"),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(help="Updates before the stages; with --model theory, of each of the first two. [as worked]"),
    ] = None,
    stage_steps: Annotated[int | None, typer.Option(help="practical: Updates of each stage. [500]")] = None,
    adam: Annotated[
        str | None, typer.Option(help="practical: whether stages keep its state, or begin with a new one. [new]")
    ] = None,
    lengths: Annotated[
        str | None, typer.Option(help="Where all are compared at the end. [5,10,20,40,80,160 as far as there are]")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Sentences of each length there.")] = 200,
    plots: Plots = True,
    interactive: Interactive = False,
    device: Device = "cpu",
    threads: Threads = None,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Train on a model's own answers to longer and longer sentences, and train the controls that tell what it gained.

    Controls are as many updates at the short length: without interruption, and restarted as often as there are stages.
    What was killed goes on with the same command.
    """
    check_model(model)
    from firstlight.tracking.language.names import action_named
    from firstlight.tracking.measures.findings import ACCURACY, measured, write_findings

    action, session = action_named(name), {"device": device, "threads": threads, "show": True}
    chosen = integers("--stages", stages or (THEORY_STAGES if model == "theory" else PRACTICAL_STAGES), "4,8")
    try:
        if model == "theory":
            if settings["length"] is not None or stage_steps is not None or adam is not None:
                raise FirstlightError("--length, --stage-steps and --adam: expected with --model practical alone")
            compared, subjects = _theory(action, out, chosen, steps, settings, session, lengths)
        else:
            own = {"steps": 500 if stage_steps is None else stage_steps, "adam": adam or "new"}
            compared, subjects = _practical(action, out, chosen, steps, settings, {**own, **session}, lengths)
    except Diverged as error:
        say(f"firstlight: {error}")
        raise typer.Exit(1) from None
    findings = measured(ACCURACY, subjects, compared, count=count, seed=0, device=device, show=True)
    files = write_findings(out, findings, plots, interactive)
    if as_json:
        print_json({"path": str(out), **findings.document(), "files": [str(path) for path in files]})
        return
    _print(findings, subjects)
    print(f"written: {', '.join(path.name for path in files)} in {out}")


def _theory(
    action: "Action", out: Path, stages: list[int], steps: int | None, given: Any, session: Any, lengths: str | None
) -> tuple[list[int], list["Subject"]]:
    from firstlight.tracking.measures.subjects import Subject
    from firstlight.tracking.theory_model.loading import stage_begin
    from firstlight.tracking.theory_model.settings import settings_for
    from firstlight.tracking.theory_model.training import control_theory, self_train_theory

    if stages != [2**k for k in range(2, len(stages) + 2)]:
        raise FirstlightError(f"--stages {','.join(map(str, stages))}: expected 4,8,...,2^K with --model theory")
    settings = theory_settings(settings_for(action), steps, given)
    compared = lengths_within(lengths, settings.variables)
    run = self_train_theory(action, out / "self-trained", settings, doublings=len(stages) + 1, **session)
    control = control_theory(run, out / "control", **session)
    subjects = [Subject(run, stage_begin(run, 2), "L = 2")]
    for number, length in enumerate(stages, start=1):
        subjects.append(Subject(run, stage_begin(run, 2 + number), f"self-trained to L = {length}"))
    for number, length in enumerate(stages, start=1):
        subjects.append(Subject(control, stage_begin(control, number), f"control of L = {length}"))
    return compared, subjects


def _practical(
    action: "Action", out: Path, stages: list[int], steps: int | None, given: Any, session: Any, lengths: str | None
) -> tuple[list[int], list["Subject"]]:
    from firstlight.tracking.measures.subjects import Subject
    from firstlight.tracking.practical.self_training import self_train_practical

    settings = practical_settings(steps, given)
    compared = lengths_within(lengths, settings.variables)
    found = self_train_practical(action, out, stages=stages, settings=settings, **session)
    last = [Subject(found.base, max(found.base.checkpoints), f"L = {settings.length}")]
    for length, run in found.stages.items():
        last.append(Subject(run, max(run.checkpoints), f"self-trained to L = {length}"))
    for number, length in enumerate(found.stages, start=1):
        last.append(Subject(found.control, number * session["steps"], f"control of L = {length}"))
    for length, run in zip(found.stages, found.restarts, strict=False):
        last.append(Subject(run, max(run.checkpoints), f"restarted control of L = {length}"))
    return compared, last


def _print(findings: "Findings", subjects: list["Subject"]) -> None:
    """Print what is right at each length, a line for each model."""
    lengths = findings.settings["lengths"]
    cells = []
    for subject in subjects:
        own = [row for row in findings.rows if row["group"] == subject.group]
        shown = [f"{row['rollout']:.3f} ({row['rollout_low']:.2f}-{row['rollout_high']:.2f})" for row in own]
        cells.append([subject.group, f"{subject.run.path.name} {subject.step}", *shown])
    print(f"all values right, with 95 % intervals of {findings.settings['count']:,} sentences of each length\n")
    print(format_table(["model", "run, step", *(f"L = {each}" for each in lengths)], cells, "ll" + "r" * len(lengths)))
    print(f"\n{_controls(subjects)}")


def _controls(subjects: list["Subject"]) -> str:
    from firstlight.tracking.measures.loading import THEORY

    if subjects[0].run.manifest["kind"] == THEORY:
        return (
            "control: from L = 2 on, as many updates at L = 2. Plain descent has no state and its rate has warmed up, "
            "so a control that restarts as often is the same run."
        )
    again = "; restarted control: with a new state of Adam as often as the stages begin with one"
    restarted = any(subject.group.startswith("restarted") for subject in subjects)
    return f"control: as many updates at the short length, in one go{again if restarted else ''}."
