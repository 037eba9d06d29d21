"""`firstlight lego`: state tracking, from the groups and their sentences to trained models."""

import typer

from firstlight.cli.lego import evaluate, language, self_train, train

app = typer.Typer(help="State tracking: groups acting on values, sentences, models that follow them.")
app.command("groups")(language.groups)
app.command("sample")(language.sample)
app.command("train")(train.train)
app.command("self-train")(self_train.self_train)
app.command("eval")(evaluate.evaluate)
app.command("attention")(evaluate.attention)
