"""What `lego eval` and `lego attention` find: rows of runs, their spread over seeds, tables, figures, and files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.files import write_json
from firstlight.report.page import Section, Table, write_page
from firstlight.report.plots import write_png
from firstlight.report.rows import range_of, write_rows
from firstlight.tracking.measures.accuracy import accuracy_rows, attention_rows, check_measurable
from firstlight.tracking.measures.figures import accuracy_figure, attention_figure
from firstlight.tracking.measures.loading import load_model
from firstlight.tracking.measures.subjects import Subject, status_notes

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Kind:
    """What is measured, and how it is shown.

    Attributes:
        name: of the files.
        title: of the page.
        measure: what returns rows of a model.
        keys: columns that name a row.
        shares: columns that are shown, with their headings.
        told: what the columns are, for the page.
        figure: of the spread.
    """

    name: str
    title: str
    measure: Callable[..., Sequence[Any]]
    keys: tuple[str, ...]
    shares: Mapping[str, str]
    told: str
    figure: Callable[[Rows, str], "Figure"]


ACCURACY = Kind(
    "accuracy",
    "How far models carry",
    accuracy_rows,
    ("length",),
    {
        "rollout": "all values right",
        "final": "last value right",
        "value_probability": "P(value)",
        "teacher_forced": "ACC_L",
    },
    "All values right, last value right: shares of roll-outs, in which a model reads back what it wrote itself. "
    "P(value), ACC_L: probability of the right next value, and of the right next clause, after true answers.",
    accuracy_figure,
)
ATTENTION = Kind(
    "attention",
    "Where models look",
    attention_rows,
    ("length", "head"),
    {"predicate": "predicate", "answer": "answer", "epsilon": "epsilon", "gap": "gap"},
    "Attention of the last answer when the next is asked for: on its predicate, on the last answer itself, on neither "
    "(epsilon), and how unequal the two are (gap); means over sentences and steps.",
    attention_figure,
)


@dataclass(frozen=True)
class Findings:
    """What was measured.

    Attributes:
        kind: of measurement.
        settings: what was asked for.
        rows: one for each run and key, with its run, step and group.
        notes: what has to be said beside them.
    """

    kind: Kind
    settings: Mapping[str, Any]
    rows: Rows
    notes: Sequence[str]

    @property
    def runs(self) -> list[str]:
        """Of which there are rows."""
        return list(dict.fromkeys(row["run"] for row in self.rows))

    @property
    def spread(self) -> Rows:
        """Least, middle and largest value over the runs of each group."""
        grouped: dict[tuple[Any, ...], Rows] = {}
        for row in self.rows:
            grouped.setdefault((row["group"], *(row[key] for key in self.kind.keys)), []).append(row)
        return [
            dict(zip(("group", *self.kind.keys), names, strict=True))
            | {"runs": len(rows)}
            | {name: asdict(range_of([row[name] for row in rows])) for name in self._numbers}
            for names, rows in grouped.items()
        ]

    @property
    def _numbers(self) -> list[str]:
        """Columns of which there is a spread: the shares, and the ends of their intervals."""
        return [name for name, value in self.rows[0].items() if isinstance(value, float)]

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        document = {"settings": dict(self.settings), "rows": self.rows, "notes": list(self.notes)}
        return document | ({"spread": self.spread} if len(self.runs) > 1 else {})

    def tables(self) -> list[Table]:
        """Return the rows of one run, or of several the spread and the rows."""
        if len(self.runs) == 1:
            return [self._rows_table()]
        return [self._spread_table(), self._rows_table()]

    def _rows_table(self) -> Table:
        several = len(self.runs) > 1
        keys, interval = list(self.kind.keys), "rollout_low" in self.rows[0]
        header = [*(["run"] if several else []), *keys, *self.kind.shares.values()]
        if interval:
            header.insert(len(header) - len(self.kind.shares) + 1, "95 % interval")
        cells = []
        for row in self.rows:
            shown = [f"{row[name]:.4f}" for name in self.kind.shares]
            if interval:
                shown.insert(1, f"{row['rollout_low']:.3f} to {row['rollout_high']:.3f}")
            cells.append([*([row["run"]] if several else []), *(row[key] for key in keys), *shown])
        return Table(header, cells, "l" * several + "r" * (len(header) - several))

    def _spread_table(self) -> Table:
        header = ["group", *self.kind.keys, "runs", *self.kind.shares.values()]
        cells = [
            [row["group"], *(row[key] for key in self.kind.keys), row["runs"], *map(_from_to, _ranges(row, self.kind))]
            for row in self.spread
        ]
        return Table(header, cells, "l" + "r" * (len(header) - 1))


def measured(
    kind: Kind, subjects: Sequence[Subject], lengths: Sequence[int], *, count: int, seed: int, device: str, show: bool
) -> Findings:
    """Measure runs one after the other, on the same sentences where they are of the same action.

    Arguments:
        kind: what is measured.
        subjects: runs, each at a step.
        lengths: L of each row.
        count: sentences of each length.
        seed: of the sentences.
        device: `cpu`, `cuda` or `cuda:N`.
        show: whether to show progress on stderr.
    """
    models = []
    for subject in subjects:
        models.append(load_model(subject.run, subject.step, device))
        check_measurable(models[-1], lengths, count)
    rows = []
    for subject, model in zip(subjects, models, strict=True):
        about = {"run": str(subject.run.path), "step": subject.step, "group": subject.group}
        found = kind.measure(model, lengths, count=count, seed=seed, show=show)
        rows += [about | asdict(row) for row in found]
    settings = {"lengths": list(lengths), "count": count, "seed": seed}
    runs = list(dict.fromkeys(str(subject.run.path) for subject in subjects))
    return Findings(kind, {"runs": runs, **settings}, rows, status_notes(subjects))


def write_findings(folder: Path, findings: Findings, plots: bool, interactive: bool) -> list[Path]:
    """Write all that was found and return the files.

    Arguments:
        folder: where.
        findings: what was measured.
        plots: whether to draw a plot and a page.
        interactive: whether figures on the page zoom and tell values.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name, document = findings.kind.name, findings.document()
    # What an earlier call left and this one does not write would be taken for this one's.
    for old in (f"{name}.json", f"{name}.parquet", f"{name}_spread.parquet", f"{name}.png", f"{name}.html"):
        (folder / old).unlink(missing_ok=True)
    written = [folder / f"{name}.json", folder / f"{name}.parquet"]
    write_json(written[0], document)
    write_rows(written[1], findings.rows)
    if "spread" in document:
        written.append(folder / f"{name}_spread.parquet")
        write_rows(written[-1], document["spread"])
    if not plots:
        return written
    figure = findings.kind.figure(findings.spread, findings.kind.title)
    write_png({folder / f"{name}.png": figure})
    text = [findings.kind.told, *findings.notes]
    if "spread" in document:
        text.append("Lines: the middle of the runs of a group; bands and ranges: from the least to the largest.")
    settings = Table(["setting", "value"], [[key, str(value)] for key, value in findings.settings.items()])
    sections = [
        Section("Against length", text, [figure], findings.tables()),
        Section("Settings", tables=[settings]),
    ]
    write_page(folder / f"{name}.html", findings.kind.title, sections, interactive)
    return [*written, folder / f"{name}.png", folder / f"{name}.html"]


def _ranges(row: Mapping[str, Any], kind: Kind) -> list[dict[str, float]]:
    return [row[name] for name in kind.shares]


def _from_to(values: Mapping[str, float]) -> str:
    ends = [f"{values[part]:.3f}" for part in ("low", "middle", "high")]
    return ends[1] if ends[0] == ends[2] else f"{ends[1]} ({ends[0]} to {ends[2]})"
