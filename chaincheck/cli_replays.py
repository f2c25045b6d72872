"""The commands that make replays from triplets and count what a judge claims."""

from __future__ import annotations

import math
from typing import Any

import click

from chaincheck.cli_options import (
    INPUT,
    OUTPUT,
    emit,
    examples,
    json_option,
    level_option,
    plot_option,
    tell,
)
from chaincheck.errors import UsageError
from chaincheck.progress_bars import shown

__all__ = ["ask", "claims", "replays"]

_strict = click.option(
    "--strict",
    is_flag=True,
    help="By chain-evidence/1s, which also asks that the quotes for hop 2 name the bridge.",
)


def _finish(found: Any, out: str, json_path: str | None) -> None:
    if json_path is None:
        tell(found.to_text(), out)
    else:
        emit(found.to_text, found.to_json, json_path)


@click.command(
    epilog=examples(
        "chaincheck audit replays --data t.jsonl.gz --rationales replies.jsonl --out replays.jsonl",
        "chaincheck score --data t.jsonl.gz --judge server.toml --log log.jsonl --live "
        "--out s.jsonl --leave-out-bounded",
        "chaincheck audit replays --data t.jsonl.gz --log log.jsonl --strict --out replays.jsonl",
        "chaincheck audit batch replays.jsonl --out reports.jsonl",
    )
)
@click.option("--data", required=True, type=INPUT, help="Triplets: .jsonl or .jsonl.gz.")
@click.option(
    "--rationales", type=INPUT, help='Replies: {"item_id": "...", "reply": "..."} a line.'
)
@click.option("--log", type=INPUT, help='Or the judgment log of a server in mode "rationale".')
@_strict
@click.option("--out", required=True, type=OUTPUT, help="Replays: .jsonl or .jsonl.gz.")
@json_option
def replays(
    *,
    data: str,
    rationales: str | None,
    log: str | None,
    strict: bool,
    out: str,
    json_path: str | None,
) -> None:
    """Make replays from triplets and a judge's structured rationales.

    What the passages support is known from how each cell was built; what the judge claims and
    quotes is read from its reply, a JSON object, and from nothing else. A missing field is
    UNKNOWN. A reply that is no such object is INVALID, counted apart with its reason.

    Exits with 0 if every reply was translated, and with 2 if one was INVALID.
    """
    from chaincheck.replay_pipeline import replays_file

    found = replays_file(data, out, rationales=rationales, log=log, strict=strict, progress=shown)
    _finish(found, out, json_path)
    if found.refused:
        import sys

        sys.stdout.flush()
        raise click.exceptions.Exit(2)


def _threshold(_context: click.Context, _option: click.Parameter, value: str) -> float | str:
    if value == "split-half":
        return value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise click.BadParameter(f"{value!r} is neither split-half nor a finite number.")
    return number


@click.command(
    epilog=examples(
        "chaincheck audit ask --data t.jsonl.gz --judge lexical --threshold split-half "
        "--out replays.jsonl",
        "chaincheck audit ask --data t.jsonl.gz --judge smollm2 --log log.jsonl --live "
        "--out replays.jsonl --scores s.jsonl",
        "chaincheck audit ask --data t.jsonl.gz --log log.jsonl --source musique "
        "--source-file musique_ans_v1.0_dev.jsonl --out replays.jsonl",
    )
)
@click.option("--data", required=True, type=INPUT, help="Triplets: .jsonl or .jsonl.gz.")
@click.option("--judge", help="A judge's name, or a .toml file.")
@click.option("--log", type=OUTPUT, help="Replay this judgment log; a miss is an error.")
@click.option("--live", is_flag=True, help="Ask the judge for what the log lacks, and record it.")
@click.option("--source", help="What the triplets were built from; it words the hops.")
@click.option("--source-file", type=INPUT, help="Its file.")
@click.option(
    "--threshold",
    default="0",
    show_default=True,
    callback=_threshold,
    help="A score above it is a claim: a number, or split-half, fitted on the other half.",
)
@_strict
@click.option("--out", required=True, type=OUTPUT, help="Replays: .jsonl or .jsonl.gz.")
@click.option("--scores", type=OUTPUT, help="Also write the scores of the items themselves.")
@json_option
def ask(*, judge: str | None, out: str, json_path: str | None, **options: Any) -> None:
    """Make replays of a judge that gives scores, by asking about each hop.

    Each item is asked three times: its question, that of hop 1, that of hop 2. What cannot be
    seen in a score, as what the judge would quote, stays UNKNOWN: no such replay is SATISFIED.
    """
    from chaincheck.judges import open_judge
    from chaincheck.replay_pipeline import ask_file

    chosen = open_judge(judge) if judge is not None else None
    found = ask_file(judge=chosen, out=out, progress=shown, **options)
    _finish(found, out, json_path)


@click.command(
    epilog=examples(
        "chaincheck audit claims --data t.jsonl.gz --replays replays.jsonl",
        "chaincheck audit claims --data t.jsonl.gz --replays replays.jsonl --scores s.jsonl "
        "--json claims.json --plot claims.svg",
    )
)
@click.option("--data", required=True, type=INPUT, help="Triplets: .jsonl or .jsonl.gz.")
@click.option("--replays", required=True, type=INPUT, help="Replays of its items.")
@click.option("--scores", type=INPUT, help="The judge's scores, to set its Sigma beside.")
@click.option("--resamples", default=2000, show_default=True, type=click.IntRange(100, 1_000_000))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
@level_option
@json_option
@plot_option
def claims(
    *,
    data: str,
    replays: str,
    scores: str | None,
    resamples: int,
    seed: int,
    level: float,
    json_path: str | None,
    plot: str | None,
) -> None:
    """Count over-claims, under-claims and right verdicts for a wrong reason, cell by cell.

    With --scores the Sigma of the judge's scores stands beside the Sigma of its claims at hop 2:
    does a judge that tells broken chains from edited ones also ground what it claims?
    """
    from chaincheck.adherence.replay_files import claims_file
    from chaincheck.atomic import refuse_clashes

    outputs = [None if json_path == "-" else json_path, plot]
    refuse_clashes(outputs, [data, replays, scores])
    if plot is not None and scores is None:
        raise UsageError(
            "the figure sets the Sigma of scores beside that of claims",
            remedy="Name the judge's scores with --scores",
        )
    found = claims_file(
        data, replays, scores, level=level, resamples=resamples, seed=seed, progress=shown
    )

    def draw(path: str) -> None:
        from chaincheck import plots, plots_claims

        plots.save(plots_claims.grounding_figure({"judge": found.joined}), path)

    emit(found.to_text, found.to_json, json_path, (lambda: draw(plot)) if plot else None)
