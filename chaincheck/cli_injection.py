"""The command that writes instructions to the judge into passages."""

from __future__ import annotations

from typing import Any

import click

from chaincheck.cli_options import INPUT, emit, examples, json_option, level_option, plot_option
from chaincheck.errors import UsageError
from chaincheck.progress_bars import shown

__all__ = ["injection"]


@click.command(
    epilog=examples(
        "chaincheck injection --data t.jsonl.gz --judge lexical",
        "chaincheck injection --data t.jsonl.gz --judge judge.toml --log probe.jsonl --live "
        "--limit 40",
        "chaincheck injection --data t.jsonl.gz --log probe.jsonl --limit 40 --json probe.json "
        "--plot probe.svg",
        "chaincheck injection --data t.jsonl.gz --judge lexical --attack claim --place later "
        "--at start",
        "chaincheck injection --data t.jsonl.gz --judge lexical --attacks mine.toml",
    )
)
@click.option("--data", required=True, type=INPUT, help="Triplets: .jsonl or .jsonl.gz.")
@click.option("--judge", help="A judge's name, or a .toml file.")
@click.option("--log", type=INPUT, help="Replay this judgment log; a miss is an error.")
@click.option("--live", is_flag=True, help="Ask the judge for what the log lacks, and record it.")
@click.option("--attack", multiple=True, help="Try this one only; may be repeated.")
@click.option("--attacks", type=INPUT, help='Attacks of your own: TOML, name = "text".')
@click.option(
    "--place",
    type=click.Choice(["distractor", "earlier", "later"]),
    default="distractor",
    show_default=True,
    help="The passage that is written into: one that supports nothing, or a support.",
)
@click.option(
    "--at",
    type=click.Choice(["end", "start"]),
    default="end",
    show_default=True,
    help="Where in the passage.",
)
@click.option("--limit", type=click.IntRange(1), help="Draw at most this many of each variant.")
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the draw."
)
@level_option
@json_option
@plot_option
def injection(
    *,
    data: str,
    judge: str | None,
    log: str | None,
    live: bool,
    attack: tuple[str, ...],
    attacks: str | None,
    json_path: str | None,
    plot: str | None,
    **options: Any,
) -> None:
    """Probe a judge with passages that talk to it: how far do they move its scores?

    Each cell of each triplet is judged as it is, with an attack in one passage, and with harmless
    text of the same length there: 13 judgments for six attacks. With --log and --live an
    interrupted probe is carried on where it stopped.
    """
    from chaincheck.atomic import refuse_clashes
    from chaincheck.injection import probe_file

    outputs = [None if json_path == "-" else json_path, plot]
    refuse_clashes(outputs, [data, log, attacks])
    texts = _chosen(attack, attacks)
    with _judge(judge, log, live=live) as chosen:
        result = probe_file(data, chosen, attacks=texts, progress=shown, **options)

    def draw(path: str) -> None:
        from chaincheck import plots, plots_injection

        plots.save(plots_injection.injection_figure(result), path)

    emit(result.to_text, result.to_json, json_path, (lambda: draw(plot)) if plot else None)


def _judge(judge: str | None, log: str | None, *, live: bool) -> Any:
    """Open the judge, on its log if there is one, as a context that lets go of the log."""
    import contextlib

    from chaincheck.judges import open_judge
    from chaincheck.judges.record import LiveJudge, with_log

    chosen = open_judge(judge) if judge is not None else None
    if log is not None:
        logged = with_log(
            chosen, log, live=live, command="the same command with --judge JUDGE and --live"
        )
        return logged if isinstance(logged, LiveJudge) else contextlib.nullcontext(logged)
    if chosen is None or live:
        raise UsageError(
            "there is no judge to ask" if chosen is None else "there is no log to record in",
            remedy="Name a judge with --judge, and a judgment log with --log",
        )
    return contextlib.nullcontext(chosen)


def _chosen(names: tuple[str, ...], path: str | None) -> dict[str, str]:
    """Gather the attacks to try."""
    from chaincheck.injection_attacks import ATTACKS, read_attacks

    known = {**ATTACKS, **(read_attacks(path) if path else {})}
    for name in names:
        if name not in known:
            raise UsageError(
                f"no attack is called {name!r}", remedy="Known: " + ", ".join(sorted(known))
            )
    if names:
        return {name: known[name] for name in names}
    return read_attacks(path) if path else dict(ATTACKS)
