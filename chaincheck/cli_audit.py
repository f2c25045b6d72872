"""The commands that audit whether a judge follows its own protocol."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from chaincheck.cli_options import (
    INPUT,
    OUTPUT,
    emit,
    examples,
    json_option,
    level_option,
    tell,
)
from chaincheck.cli_replays import ask, claims, replays
from chaincheck.errors import InvalidReplay, UsageError
from chaincheck.errors import quote as quoted
from chaincheck.toml_files import nearest

if TYPE_CHECKING:
    from chaincheck.adherence.replay import Verdict

__all__ = ["audit"]

_T = TypeVar("_T")
_DEFAULT = "file"
_COMMAND = re.compile(r"\w[\w-]*")  # no dot and no slash, as the path of a replay mostly has
_EXIT_CODES = """

\b
Exit codes:
  0  SATISFIED
  1  VIOLATED
  2  the replay, or how it was asked for, is at fault
  3  UNKNOWN
"""
_EXIT = {"SATISFIED": 0, "VIOLATED": 1, "UNKNOWN": 3}
_PROTOCOL = (
    "chain-evidence/1, chain-evidence/1s, factual-claims/1 (with --claim), or a .json file of "
    "your own."
)
_claims = click.option(
    "--claim",
    "claims",
    multiple=True,
    type=(str, str),
    metavar="ID STATEMENT",
    help="A claim that factual-claims/1 is written out for; repeat.",
)


def _once(claims: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the claims by id, and refuse a second one of the same id."""
    found: dict[str, str] = {}
    for claim, statement in claims:
        if claim in found:
            raise UsageError(
                f"there are two claims {quoted(claim)}", remedy="Give each claim an id of its own"
            )
        found[claim] = statement
    return found


class _WithDefault(click.Group):
    """A group whose first argument may be a file instead of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command in front of what names none.

        Raises:
            UsageError: the first word looks like a command, and there is neither that command
                nor a file of that name.
        """
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            word = args[0]
            if _COMMAND.fullmatch(word) and not Path(word).exists():
                raise UsageError(
                    f"there is no command {quoted(word)} of audit, and no file of that name",
                    remedy=f"{nearest(word, self.commands)}; {ctx.command_path} --help lists them",
                )
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show both ways to call it."""
        formatter.write_usage(ctx.command_path, "REPLAY.json [--html PAGE.html] [--json OUT.json]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...")


def _progress(items: Iterable[_T], *, what: str, start: int = 0) -> Iterator[_T]:
    """Count on stderr, where somebody watches."""
    from tqdm import tqdm

    yield from tqdm(items, desc=what, initial=start, unit="", disable=not sys.stderr.isatty())


@click.group(
    cls=_WithDefault,
    epilog=examples(
        "chaincheck audit replay.json",
        "chaincheck audit replay.json --html report.html --json report.json",
        "chaincheck audit batch replays.jsonl --out reports.jsonl",
        "chaincheck audit new --protocol chain-evidence/1 --context p1.txt --out replay.json",
        "chaincheck audit replays --data t.jsonl.gz --rationales replies.jsonl --out replays.jsonl",
    )
    + _EXIT_CODES,
)
def audit() -> None:
    """Audit whether a judge followed the protocol that it was given.

    A replay is one evaluation: the texts, the protocol, the verdict, and readings of both with
    quotes. Name a file to audit it, or one of the commands below. Write ./batch for a file that
    is called like a command.
    """


@audit.command(name=_DEFAULT)
@click.argument("replay", type=INPUT)
@click.option("--html", "html_path", type=OUTPUT, help="Write a page with marked evidence.")
@json_option
def audit_file(replay: str, html_path: str | None, json_path: str | None) -> None:
    """Audit one replay; what `chaincheck audit REPLAY.json` does.

    Exits with 0 for SATISFIED, 1 for VIOLATED, 3 for UNKNOWN, 2 for bad input.
    """
    from chaincheck.adherence.audit import audit as run
    from chaincheck.adherence.decode import read_replay
    from chaincheck.adherence.page import report_page
    from chaincheck.adherence.report import encode_report, report_text
    from chaincheck.atomic import refuse_clashes, write_bytes

    refuse_clashes([None if json_path == "-" else json_path, html_path], [replay])
    try:
        recorded = read_replay(replay)
    except InvalidReplay as error:
        if error.code == "NOT_JSON" and replay.removesuffix(".gz").endswith(".jsonl"):
            raise UsageError(
                f"{replay} is not one replay in JSON",
                remedy="A file with one replay a line is read by: chaincheck audit batch",
            ) from error
        raise
    found = run(recorded.replay)
    draw = None
    if html_path:
        page = report_page(recorded, found).encode()
        draw = lambda: write_bytes(html_path, page)  # noqa: E731 -- a name would say no more
    emit(
        lambda: report_text(recorded, found),
        lambda: encode_report(recorded, found).decode(),
        json_path,
        draw,
    )
    sys.stdout.flush()
    raise click.exceptions.Exit(_EXIT[found.overall])


@audit.command(
    epilog=examples(
        "chaincheck audit batch replays.jsonl --out reports.jsonl",
        "chaincheck audit batch replays.jsonl.gz --out reports.jsonl --json summary.json",
    )
)
@click.argument("replays", type=INPUT)
@click.option("--out", required=True, type=OUTPUT, help="Reports: .jsonl or .jsonl.gz.")
@click.option("--explain", is_flag=True, help="Also what would settle or change each status.")
@level_option
@json_option
def batch(*, replays: str, out: str, explain: bool, level: float, json_path: str | None) -> None:
    """Audit a file with one replay a line.

    Writes one report a line, in the same order, each with its replay's id; a line that holds no
    valid replay gets one with "overall": "INVALID", its number and the code of what is wrong,
    and is counted apart. Prints the share of violations in each dimension with its exact
    interval, which takes the replays as independent. The cells of triplets are not: for them
    `chaincheck audit claims` gives intervals that are clustered by question.

    If it is interrupted, the same command takes up where it stopped.

    Exits with 0 if every line was audited, whatever was found, and with 2 if one was INVALID.
    """
    from chaincheck.adherence.batch import audit_lines, takes_up
    from chaincheck.atomic import refuse_clashes

    refuse_clashes([out, None if json_path == "-" else json_path], [replays])
    try:
        summary = audit_lines(replays, out, explain=explain, level=level, progress=_progress)
    except KeyboardInterrupt:
        if takes_up(replays, out):
            click.echo("What was audited is kept: the same command goes on from there.", err=True)
        raise
    if json_path is None:
        tell(summary.to_text(), out)
    else:
        emit(summary.to_text, summary.to_json, json_path)
    if summary.invalid:
        sys.stdout.flush()
        raise click.exceptions.Exit(2)


@audit.command(
    epilog=examples(
        "chaincheck audit new --protocol chain-evidence/1 --id my-1 --question q.txt "
        "--context p1.txt --context p2.txt --rationale answer.json --out replay.json",
        "chaincheck audit new --protocol factual-claims/1 --claim born 'she was born in Lund' "
        "--context passage.txt --response r.txt --rationale why.txt --verdict FAIL --out r.json",
    )
)
@click.option("--protocol", required=True, help=_PROTOCOL)
@_claims
@click.option(
    "--id", "replay_id", default="new-replay", show_default=True, help="What reports call it."
)
@click.option("--context", "context", multiple=True, type=INPUT, help="A passage; repeat.")
@click.option("--question", multiple=True, type=INPUT, help="The question, as a text file.")
@click.option("--response", multiple=True, type=INPUT, help="What was judged.")
@click.option("--rationale", multiple=True, type=INPUT, help="What the judge wrote, as it came.")
@click.option("--trace", multiple=True, type=INPUT, help="What it was seen to do.")
@click.option("--rules", multiple=True, type=INPUT, help="The protocol in words.")
@click.option(
    "--verdict",
    type=click.Choice(["PASS", "FAIL"]),
    help="What the judge decided; PASS where it is not said.",
)
@click.option(
    "--gold", type=click.Choice(["PASS", "FAIL"]), help="What is right; nothing is solved by it."
)
@click.option("--out", required=True, type=OUTPUT, help="The replay: a .json file.")
def new(
    *,
    protocol: str,
    claims: tuple[tuple[str, str], ...],
    replay_id: str,
    verdict: Verdict | None,
    gold: Verdict | None,
    out: str,
    **texts: tuple[str, ...],
) -> None:
    """Write a replay to start from: your texts, a protocol, and every atom UNKNOWN.

    It can be audited as it is, and is UNKNOWN. Fill in what you read, with
    `chaincheck audit quote` to find the offsets.
    """
    from chaincheck.adherence.scaffold import scaffold_file

    texts["protocol"] = texts.pop("rules")
    scaffold_file(
        out,
        replay_id,
        protocol,
        claims=_once(claims),
        texts=texts,
        verdict=verdict or "PASS",
        gold=gold,
    )
    if verdict is None:
        tell(f"{out}: verdict PASS, since no --verdict was given", out)
    tell(f"{out}: fill in the annotations, then: chaincheck audit {out}", out)


@audit.command(
    epilog=examples(
        "chaincheck audit quote replay.json rationale 'directed by Anna Keller'",
        "chaincheck audit quote replay.json p1 Anna --occurrence 2",
    )
)
@click.argument("replay", type=INPUT)
@click.argument("source")
@click.argument("text")
@click.option("--occurrence", type=click.IntRange(1), help="Which one, where it stands often.")
def quote(replay: str, source: str, text: str, occurrence: int | None) -> None:
    """Print the evidence span of a quote, ready to paste into an annotation."""
    from chaincheck.adherence.builder import locate
    from chaincheck.adherence.decode import read_replay

    sources = {one.id: one for one in read_replay(replay).replay.sources}
    if source not in sources:
        raise UsageError(
            f"there is no source {source!r}", remedy=f"The sources are: {', '.join(sources)}"
        )
    span = locate(sources[source], text, occurrence)
    fields = {"source": span.source, "start": span.start, "end": span.end, "quote": span.quote}
    click.echo(json.dumps(fields, ensure_ascii=False))


@audit.command(
    epilog=examples(
        "chaincheck audit protocol my_protocol.json",
        "chaincheck audit protocol chain-evidence/1",
    )
)
@click.argument("name")
@_claims
@json_option
def protocol(name: str, claims: tuple[tuple[str, str], ...], json_path: str | None) -> None:
    """Check a protocol, of your own or by name, and show its weaknesses.

    With the package come chain-evidence/1, chain-evidence/1s and factual-claims/1.

    Exits with 0 if it has none, 1 if it has some, 2 if it is no protocol.
    """
    from chaincheck.adherence.scaffold import inspect_protocol

    found = inspect_protocol(name, _once(claims))
    emit(found.to_text, found.to_json, json_path)
    if found.weaknesses:
        sys.stdout.flush()
        raise click.exceptions.Exit(1)


@audit.command(epilog=examples("chaincheck audit schema > replay.schema.json"))
@click.option("--protocol", is_flag=True, help="The schema of a protocol by itself.")
def schema(protocol: bool) -> None:
    """Print the JSON Schema of a replay."""
    from chaincheck.adherence.schema import protocol_schema, replay_schema

    value: dict[str, Any] = protocol_schema() if protocol else replay_schema()
    click.echo(json.dumps(value, indent=2))


@audit.command()
def codes() -> None:
    """List why a replay can be refused: code, meaning, remedy."""
    from chaincheck.refusals import CODES

    for name, code in CODES.items():
        click.echo(f"{name}\n  {code.meaning}\n  {code.remedy}.")


@audit.command(
    epilog=examples("chaincheck audit agreement mine.jsonl yours.jsonl --json agreement.json")
)
@click.argument("first", type=INPUT)
@click.argument("second", type=INPUT)
@click.option("--resamples", default=2000, show_default=True, type=click.IntRange(100, 1_000_000))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
@level_option
@json_option
def agreement(
    *, first: str, second: str, resamples: int, seed: int, level: float, json_path: str | None
) -> None:
    """Compare two files of the same replays, annotated by two people or programs.

    Shows Krippendorff's alpha for each role of atoms, how far the quotes overlap, and how often
    the overall status is the same.
    """
    from chaincheck.adherence.agreement import compare_files

    found = compare_files(first, second, resamples=resamples, seed=seed, level=level)
    emit(found.to_text, found.to_json, json_path)


for _other in (replays, ask, claims):
    audit.add_command(_other)
