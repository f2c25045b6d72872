"""The commands about two judges, about planning, and about what a model knows by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from chaincheck.cli_options import (
    INPUT,
    OUTPUT,
    emit,
    examples,
    exchanges_option,
    level_option,
    measuring,
    number_option,
    plot_option,
    tell,
)
from chaincheck.errors import UsageError

if TYPE_CHECKING:
    from chaincheck.planning import Plan

__all__ = ["closed_book", "compare", "noise", "power"]


@click.command(
    epilog=examples(
        "chaincheck compare --data t.jsonl.gz --scores mine.jsonl --against theirs.jsonl",
        "chaincheck compare --data t.jsonl.gz --scores tuned.jsonl --against base.jsonl "
        "--cluster bridge",
        "chaincheck compare --data t.jsonl.gz --scores a.jsonl --against b.jsonl "
        "--name A --against-name B --plot ab.svg",
        "chaincheck compare --data t.jsonl.gz --scores a.jsonl --against b.jsonl "
        "--flips 0 --json ab.json",
    )
)
@click.option("--scores", required=True, type=INPUT, help="Scores of the first judge.")
@click.option("--against", required=True, type=INPUT, help="Scores of the second judge.")
@click.option(
    "--against-data",
    multiple=True,
    type=INPUT,
    help="The second judge's triplet file(s), if others; they must hold the same data.",
)
@click.option("--name", help="Name of the first judge; by default that of its score file.")
@click.option("--against-name", help="Name of the second judge, likewise.")
@click.option(
    "--flips",
    default=10,
    show_default=True,
    type=click.IntRange(0),
    help="List at most this many reversed orders for each row; --json has all.",
)
@measuring
@exchanges_option
@plot_option
def compare(
    *,
    data: Sequence[str],
    scores: str,
    against: str,
    against_data: Sequence[str],
    name: str | None,
    against_name: str | None,
    flips: int,
    json_path: str | None,
    plot: str | None,
    **options: Any,
) -> None:
    """Hold two judges against each other on the same triplets: differences, p-values, flips.

    Every difference is the first judge's number less the second's.
    """
    from chaincheck.atomic import refuse_clashes
    from chaincheck.comparison_pipeline import compare_files
    from chaincheck.matching import names_of

    written = [None if json_path == "-" else json_path, plot]
    refuse_clashes(written, [*data, *against_data, scores, against])
    first, second = names_of(scores, against)
    result = compare_files(
        data,
        scores,
        against,
        against_data=against_data or None,
        names=(name or first, against_name or second),
        **options,
    )

    def draw(path: str) -> None:
        from chaincheck import plots, plots_comparison

        plots.save(plots_comparison.differences_figure(result.rows, result.names), path)

    emit(
        lambda: result.to_text(flips),
        result.to_json,
        json_path,
        (lambda: draw(plot)) if plot else None,
    )


@click.command(
    epilog=examples(
        "chaincheck noise --data t.jsonl.gz --scores batch1.jsonl --rescores batch32.jsonl",
        "chaincheck noise --data t.jsonl.gz --scores fp32.jsonl --rescores bf16.jsonl "
        "--vary dtype --json -",
    )
)
@click.option("--scores", required=True, type=INPUT, help="The scores to be used.")
@click.option(
    "--rescores",
    required=True,
    type=INPUT,
    help="The same judge's, of another batch size, precision or device.",
)
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY",
    help="A key of the instrument that may differ, such as the precision; may be repeated.",
)
@measuring
@exchanges_option
def noise(
    *, data: Sequence[str], scores: str, rescores: str, json_path: str | None, **options: Any
) -> None:
    """Hold two runs of one judge against each other: how large an edit effect to trust?"""
    from chaincheck.atomic import refuse_clashes
    from chaincheck.comparison_pipeline import noise_files

    refuse_clashes([None if json_path == "-" else json_path], [*data, scores, rescores])
    result = noise_files(data, scores, rescores, **options)
    emit(result.to_text, result.to_json, json_path)


@click.command(
    epilog=examples(
        "chaincheck power --sigma 0.1",
        "chaincheck power --sigma 0.1 --edit-effect -0.05 --design-effect 1.5",
        "chaincheck power --sigma 0.3 --against 0.2 --differ 0.3",
        "chaincheck power --margin 0.02 --differ 0.05",
        "chaincheck power --margin 0.02 --differ 0.05 --difference 0.01 --power 0.9 --json",
    )
)
@number_option("--sigma", -1, 0.5, help="Sigma that the judge is thought to have.")
@number_option("--edit-effect", -0.5, 0.5, help="Its EE; 0 needs the most triplets.")
@number_option("--against", -1, 0.5, help="Plan for a difference: the other judge's Sigma.")
@number_option("--against-edit-effect", -0.5, 0.5, help="The other judge's EE.")
@number_option("--margin", 0, 1, help="Plan for not being worse: how much lower is acceptable.")
@number_option("--difference", -1, 1, help="The true difference of Nominal; by default none.")
@number_option(
    "--differ",
    0,
    1,
    help="Share of triplets in which the two judges differ: in B > D or A > B with --against (the "
    "discordance that compare gives), in A > D with --margin.",
)
@number_option(
    "--power", 0.01, 0.9999, default=0.8, show_default=True, help="Probability of showing it."
)
@level_option
@number_option(
    "--design-effect",
    0.001,
    1000,
    default=1.0,
    show_default=True,
    help="Variance with clusters over variance without.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def power(*, power: float, level: float, design_effect: float, as_json: bool, **given: Any) -> None:
    """Plan how many triplets a decision needs.

    With --sigma: to show that a judge's Sigma is above 0. With --sigma and --against: that it is
    above another judge's. With --margin: that a judge's Nominal is not lower than another's by
    more than that.
    """
    import msgspec

    stated = {name: value for name, value in given.items() if value is not None}
    plan = _planner(stated)(**stated, power=power, level=level, design_effect=design_effect)
    tell(msgspec.json.encode(plan.to_dict()).decode() if as_json else plan.to_text())


def _planner(stated: dict[str, float]) -> Callable[..., Plan]:
    """Choose the plan by what was stated; refuse what is missing and what would be ignored."""
    from chaincheck import planning

    function: Callable[..., Plan]
    needed: tuple[str, ...]
    optional: tuple[str, ...]
    if "margin" in stated:
        function, needed, optional = planning.plan_not_worse, ("margin", "differ"), ("difference",)
        what = "a plan with --margin"
    elif "against" in stated:
        function, needed = planning.plan_difference, ("sigma", "against", "differ")
        optional = ("edit_effect", "against_edit_effect")
        what = "a plan with --against"
    else:
        function, needed, optional = planning.plan_selectivity, ("sigma",), ("edit_effect",)
        what = "a plan without --against and --margin"
    for problem, names in (
        ("needs", [name for name in needed if name not in stated]),
        ("has no use for", [name for name in stated if name not in needed + optional]),
    ):
        if names:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in names)
            raise UsageError(f"{what} {problem} {flags}", remedy="See chaincheck power --help")
    return function


@click.command(
    "closed-book",
    epilog=examples(
        "chaincheck closed-book --data t.jsonl.gz --answers answers.jsonl --out marked.jsonl.gz",
        "chaincheck closed-book --data t.jsonl.gz --answers scored.jsonl --threshold 0.5 "
        "--column knows --out marked.jsonl.gz",
        "chaincheck evaluate --data marked.jsonl.gz --scores s.jsonl "
        "--exclude-column closed_book_correct",
    ),
)
@click.option("--data", required=True, type=INPUT, help="Triplets: .jsonl or .jsonl.gz.")
@click.option(
    "--answers",
    required=True,
    type=INPUT,
    help="Rows with item_id, pair_id, source_id or query, and correct, answer or score.",
)
@click.option("--out", required=True, type=OUTPUT, help="Triplets with the column.")
@click.option(
    "--column", default="closed_book_correct", show_default=True, help="Name of the column."
)
@number_option("--threshold", help="The score from which on an answer is right.")
@click.option("--allow-missing", is_flag=True, help="Write null for a question without an answer.")
@click.option("--replace", is_flag=True, help="Write over a column of that name.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def closed_book(*, data: str, answers: str, out: str, as_json: bool, **options: Any) -> None:
    """Mark the questions that a model answers without passages, to leave them out."""
    from chaincheck.closed_book import add_closed_book

    summary = add_closed_book(data, answers, out, **options)
    tell(summary.to_json() if as_json else summary.to_text(), out)
