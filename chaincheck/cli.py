"""The command line: one thin function a command, no logic.

Exit codes: 0 success, 1 a check that was measured and failed (or a notebook cell that raised),
2 bad input or bad usage, 3 a record that cannot be trusted (a judgment log that is damaged or of
another judge, scores that were altered or are of other data), 130 interrupted, 143 terminated.
``chaincheck audit`` tells what it found: 0 SATISFIED, 1 VIOLATED, 3 UNKNOWN.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from chaincheck import __version__
from chaincheck.cli_audit import audit
from chaincheck.cli_comparison import closed_book, compare, noise, power
from chaincheck.cli_injection import injection
from chaincheck.cli_models import model
from chaincheck.cli_options import (
    INPUT,
    OUTPUT,
    emit,
    examples,
    json_option,
    measuring,
    plot_option,
    tell,
)
from chaincheck.cli_release import card, gate, merge
from chaincheck.cli_train import train
from chaincheck.command_guard import guarded
from chaincheck.errors import MeasuredFailure, UsageError
from chaincheck.progress_bars import shown
from chaincheck.sources import EMBEDDED, SOURCES

__all__ = ["command", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="chaincheck")
def command() -> None:
    """Tell whether a judge reads the evidence chain or the traces of editing.

    Build triplets from questions, score them with any judge, and split the judge's behavior
    into a chain effect and an edit effect.
    """


@command.command(
    epilog=examples(
        "chaincheck build --source musique musique_ans_dev.jsonl --out triplets.jsonl.gz",
        "chaincheck build --source twowiki dev.json --out t.jsonl.gz --variants real,decoy",
        "chaincheck build --source facts --out facts.jsonl.gz --cells A,B,D,C --seed 1",
        "chaincheck build --source documents my_rows.jsonl --out mine.jsonl.gz",
        "chaincheck build --source facts --out train.jsonl.gz --test-out test.jsonl.gz",
    )
)
@click.option(
    "--source",
    required=True,
    metavar="NAME",
    help=f"One of {', '.join(SOURCES)}; {' and '.join(sorted(EMBEDDED))} need no input.",
)
@click.argument("input_path", metavar="[INPUT]", required=False, type=INPUT)
@click.option("--out", required=True, type=OUTPUT, help="Triplets: .jsonl or .jsonl.gz.")
@click.option(
    "--variants",
    default="real,fict,decoy",
    show_default=True,
    help="What takes the bridge's place: another real name, an invented one, that of a decoy.",
)
@click.option("--cells", default="A,B,D", show_default=True, help="Add C for the fourth cell.")
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="Same seed, same bytes."
)
@click.option("--distractors", type=click.IntRange(0), help="Keep at most this many distractors.")
@click.option("--limit", type=click.IntRange(1), help="Read at most this many records.")
@click.option("--keep-all", is_flag=True, help="Reject rather than leave a distractor out.")
@click.option("--lenient", is_flag=True, help="The nine rules only: more triplets, more unsound.")
@click.option("--test-out", type=OUTPUT, help="A second file, for a test split.")
@click.option(
    "--test-share",
    default=0.2,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of the triplets in it; no bridge and no later step is in both files.",
)
@click.option("--report", type=OUTPUT, help="Write the rejection report as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def build(
    *,
    source: str,
    input_path: str | None,
    out: str,
    variants: str,
    cells: str,
    seed: int,
    distractors: int | None,
    limit: int | None,
    keep_all: bool,
    lenient: bool,
    test_out: str | None,
    test_share: float,
    report: str | None,
    as_json: bool,
) -> None:
    """Turn a data set's questions into triplets, and say why the others were rejected.

    A rejection is counted under the first of the rules Q1 to Q9 that failed. --report gives
    examples with the reason in words; chapter 2 of the book explains each rule.

    Ends with exit code 1 if the data gave no triplet at all; the file is then empty.
    """
    from chaincheck.pipeline import build_file

    result = build_file(
        source,
        input_path,
        out,
        variants=_listed(variants),
        cells=_listed(cells),
        seed=seed,
        distractors=distractors,
        limit=limit,
        keep_all=keep_all,
        strict=not lenient,
        test_out=test_out,
        test_share=test_share,
        report_path=report,
        progress=shown,
    )
    tell(result.to_json() if as_json else result.to_text(), out)
    if not any(result.triplets.values()):
        raise MeasuredFailure(
            f"no triplet was built of {result.records:,} records: {out} is empty",
            remedy="The report says why each was rejected",
        )


@command.command(
    epilog=examples(
        "chaincheck score --data triplets.jsonl.gz --judge lexical --out scores.jsonl",
        "chaincheck score --data triplets.jsonl.gz --judge repeated-names --out names.jsonl",
        "chaincheck score --data triplets.jsonl.gz --judge my_judge.toml --out scores.jsonl",
        "chaincheck score --data t.jsonl.gz --judge smollm2 --log log.jsonl --live --out s.jsonl",
        "chaincheck score --data t.jsonl.gz --log log.jsonl --out s.jsonl",
        "chaincheck score --data t.jsonl.gz --judge smollm2 --out s.jsonl --evaluate",
    )
)
@click.option("--data", required=True, type=INPUT, help="Triplets: .jsonl or .jsonl.gz.")
@click.option("--judge", help="A judge's name, such as lexical or smollm2, or a .toml file.")
@click.option("--log", type=OUTPUT, help="Replay this judgment log; a miss is an error.")
@click.option("--live", is_flag=True, help="Ask the judge for what the log lacks, and record it.")
@click.option(
    "--leave-out-bounded",
    "leave_out",
    is_flag=True,
    help="Write no line where the judge gives bounds instead of a score.",
)
@click.option("--out", required=True, type=OUTPUT, help="Scores: .jsonl or .jsonl.gz.")
@click.option(
    "--evaluate", "measure", is_flag=True, help="Then measure them, as evaluate does by default."
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def score(
    *,
    data: str,
    judge: str | None,
    log: str | None,
    live: bool,
    leave_out: bool,
    out: str,
    measure: bool,
    as_json: bool,
) -> None:
    """Score every item of a file with a judge."""
    from chaincheck.pipeline import score_file

    if measure and Path(out).exists() and not Path(out).is_file():
        raise UsageError(f"{out} keeps no scores to measure", remedy="Name a file with --out")
    summary = score_file(data, judge, out, log=log, live=live, leave_out=leave_out, progress=shown)
    tell(summary.to_json() if as_json else summary.to_text(), out)
    if measure:
        from chaincheck.evaluation import evaluate_files

        result = evaluate_files([data], out, allow_missing=leave_out)
        click.echo(result.to_json() if as_json else result.to_text())


@command.command(
    epilog=examples(
        "chaincheck evaluate --data triplets.jsonl.gz --scores scores.jsonl",
        "chaincheck evaluate --data twowiki_replication.jsonl.gz --scores my_scores.jsonl "
        "--exclude-cb27b",
        "chaincheck evaluate --data t.jsonl.gz --scores s.jsonl --json out.json --plot out.svg",
        "chaincheck evaluate --data t.jsonl.gz --scores s.jsonl --cluster bridge --level 0.9",
    )
)
@click.option("--scores", required=True, type=INPUT, help="Score file for all of them.")
@measuring
@plot_option
def evaluate(
    *, data: Sequence[str], scores: str, json_path: str | None, plot: str | None, **options: Any
) -> None:
    """Split a judge's behavior into a chain effect and an edit effect."""
    from chaincheck.atomic import refuse_clashes
    from chaincheck.evaluation import evaluate_files

    refuse_clashes([None if json_path == "-" else json_path, plot], [*data, scores])
    result = evaluate_files(data, scores, **options)
    draw = (lambda: _draw_effects(result.by_file(), plot)) if plot else None
    emit(result.to_text, result.to_json, json_path, draw)


@command.command(
    epilog=examples(
        "chaincheck shortcuts --data triplets.jsonl.gz",
        "chaincheck shortcuts --data triplets.jsonl.gz --plot shortcuts.svg --json out.json",
    )
)
@click.option("--data", required=True, type=INPUT, help="Triplets: .jsonl or .jsonl.gz.")
@json_option
@plot_option
def shortcuts(data: str, json_path: str | None, plot: str | None) -> None:
    """Measure what each surface cue alone gets on a data set."""
    from chaincheck.atomic import refuse_clashes
    from chaincheck.evaluation import judges_to_json, judges_to_text
    from chaincheck.pipeline import measure_judges

    refuse_clashes([None if json_path == "-" else json_path, plot], [data])
    found = measure_judges(data, progress=shown)
    rows = {name: one.rows for name, one in found.items()}
    draw = (lambda: _draw_effects(rows, plot)) if plot else None
    emit(lambda: judges_to_text(found), lambda: judges_to_json(found), json_path, draw)


@command.command(
    epilog=examples(
        "chaincheck run notebooks/03_selectivity.md",
        "chaincheck run notebooks/03_selectivity.md -p replicates 500 -p seed 1",
    )
)
@click.argument("notebook", type=INPUT)
@click.option(
    "-p", "parameters", multiple=True, type=(str, str), metavar="NAME VALUE", help="A parameter."
)
@click.option("--out", type=OUTPUT, help="Where the executed notebook goes.")
def run(notebook: str, parameters: Sequence[tuple[str, str]], out: str | None) -> None:
    """Execute one chapter with your parameters."""
    from chaincheck.book import parse_parameters, run_notebook

    source = Path(notebook)
    # Not with_suffix: what has no name, such as ".", is refused by what reads it.
    target = Path(out) if out else source.parent / f"{source.stem}.run.ipynb"
    tell(str(run_notebook(source, target, parse_parameters(parameters))))


@command.command(
    epilog=examples("chaincheck book", "chaincheck book --profile mine.toml --out my_book")
)
@click.option("--profile", help="smoke, default, gpu, or the path of a .toml file of your own.")
@click.option("--out", type=OUTPUT, help="Folder for your book; never the published one.")
@click.option("--root", type=INPUT, default=".", show_default=True, help="The repository.")
def book(profile: str | None, out: str | None, root: str) -> None:
    """Execute every chapter and render the book."""
    from chaincheck.book import build_book

    tell(str(build_book(Path(root), profile=profile, out=Path(out) if out else None)))


for _other in (
    compare,
    noise,
    power,
    closed_book,
    injection,
    model,
    train,
    merge,
    gate,
    card,
    audit,
):
    command.add_command(_other)


def _draw_effects(rows: Mapping[str, Sequence[Any]], path: str) -> None:
    from chaincheck import plots

    plots.save(plots.effects(rows), path)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)

    def run() -> None:
        asked = os.environ.get("_CHAINCHECK_COMPLETE")  # by a shell that completes a line
        if asked:
            from click.shell_completion import shell_complete

            shell_complete(command, {}, "chaincheck", "_CHAINCHECK_COMPLETE", asked)
            return
        # Not command.main: it has its own way with a broken pipe.
        with command.make_context("chaincheck", words) as context:
            command.invoke(context)

    return guarded(run)
