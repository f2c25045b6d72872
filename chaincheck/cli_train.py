"""The command that trains a judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaincheck.cli_options import INPUT, OUTPUT, examples
from chaincheck.errors import MissingExtra

if TYPE_CHECKING:
    from chaincheck.training.recipe import Recipe

__all__ = ["train"]


@click.command(
    epilog=examples(
        "chaincheck train --base smollm2 --data train.jsonl.gz --out run",
        "chaincheck train --base smollm2 --data train.jsonl.gz --out run --validation val.jsonl.gz "
        "--recipe recipe.toml",
        "chaincheck train --base my_model --data t.jsonl.gz --out run -s seed 1 -s loss.margin 3",
        "chaincheck train --base my_model --data t.jsonl.gz --out run -s objective nominal",
        "accelerate launch --config_file chaincheck/training/fsdp2.yaml -m chaincheck train "
        "--base big --data t.jsonl.gz --out run",
    )
)
@click.option("--base", required=True, help="The model to train: a folder, or a name.")
@click.option("--data", required=True, type=INPUT, help="Triplets: .jsonl or .jsonl.gz.")
@click.option("--out", required=True, type=OUTPUT, help="The run's folder.")
@click.option(
    "--validation",
    type=INPUT,
    help="Triplets to validate with, at the end and, if the recipe sets eval_every, every so many "
    "steps: then the best state is kept.",
)
@click.option(
    "--recipe", type=INPUT, help="The recipe, a TOML file; a key that it lacks has its default."
)
@click.option(
    "-s",
    "settings",
    multiple=True,
    type=(str, str),
    metavar="KEY VALUE",
    help="A key of the recipe and its value, as TOML has it; a key of a table as loss.margin. "
    "The API page Training lists the keys; one that there is not is answered with the nearest, or "
    "with all of them.",
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--threads", type=click.IntRange(1, 1024), help="Threads of the CPU.")
@click.option(
    "--code", multiple=True, metavar="FILE", help="A Python file of the base that may run."
)
@click.option("--plot", type=OUTPUT, help="Draw the metrics: .svg, .png or .pdf.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def train(
    *,
    base: str,
    data: str,
    out: str,
    validation: str | None,
    recipe: str | None,
    settings: Sequence[tuple[str, str]],
    device: str,
    threads: int | None,
    code: Sequence[str],
    plot: str | None,
    as_json: bool,
) -> None:
    """Train a LoRA adapter of a judge on triplets.

    The run's folder receives the adapter, its metrics and what it was trained on. The same
    command again goes on with a run that was interrupted, from its last checkpoint. A recipe that
    sets neither save_every nor eval_every makes none: then it begins anew.
    """
    from chaincheck.training.recipe import load_recipe, parse_settings, read_recipe
    from chaincheck.training.run import train as run
    from chaincheck.training.run_folder import is_first_process

    if plot:
        _check_plot(out, plot)
    changes = parse_settings(settings)
    chosen = load_recipe(recipe, changes) if recipe else read_recipe(changes)
    try:
        summary = run(
            base,
            data,
            out,
            chosen,
            validation=validation,
            device=device,
            threads=threads,
            code=code,
        )
    except KeyboardInterrupt:
        click.echo(f"chaincheck: {_how_to_go_on(chosen)}", err=True)
        raise
    if not is_first_process():
        return
    if plot:
        _draw(out, plot)
    click.echo(summary.to_json() if as_json else summary.to_text())


def _how_to_go_on(recipe: Recipe) -> str:
    """What whoever stopped a run wants to know."""
    if recipe.save_every or recipe.eval_every:
        return "the same command goes on from the last checkpoint, if there is one yet"
    return "no checkpoint was made, since save_every is 0: the same command begins anew"


def _check_plot(run: str, path: str) -> None:
    """Refuse before the training what cannot be drawn after it."""
    from chaincheck.atomic import check_target

    try:
        from chaincheck import plots
    except ModuleNotFoundError as error:
        if error.name not in {"matplotlib", "seaborn"}:
            raise
        raise MissingExtra("drawing a figure", "plot") from None
    plots.format_of(path)
    if Path(path).resolve().parent != Path(run).resolve():  # which may have to be made yet
        check_target(path)


def _draw(run: str, path: str) -> None:
    from chaincheck import plots, plots_training

    figure: Any = plots_training.progress_figure(plots_training.read_metrics(run))
    plots.save(figure, path)
