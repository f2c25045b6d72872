"""The commands that release a judge: merge, gate, card."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

import click

from chaincheck.cli_options import INPUT, OUTPUT, emit, examples, json_option, tell
from chaincheck.errors import UsageError

__all__ = ["card", "gate", "merge"]

_T = TypeVar("_T")


def _progress(items: Iterable[_T], what: str, total: int) -> Iterable[_T]:
    """Show a bar on stderr that vanishes where nobody watches."""
    from tqdm import tqdm

    bar: Iterable[_T] = tqdm(
        items, desc=what, total=total, unit="", leave=False, disable=not sys.stderr.isatty()
    )
    return bar


@click.command(
    epilog=examples(
        "chaincheck merge base --adapter run/adapter --out merged",
        "chaincheck merge base --adapter a --out merged --compare-on t.jsonl --judge base.toml",
        "chaincheck merge base --adapter run/adapter --audit-only theirs",
        "chaincheck merge base --adapter run/adapter --restore theirs --out whole",
        "chaincheck merge base --adapter a --audit-only theirs --rename model.=text. --json -",
    )
)
@click.argument("base", type=INPUT)
@click.option("--adapter", type=INPUT, help="LoRA adapter, a folder as peft saves it.")
@click.option("--out", type=OUTPUT, help="Folder to write; it must not exist.")
@click.option("--audit-only", type=INPUT, metavar="MERGED", help="Audit this folder; write none.")
@click.option(
    "--restore",
    type=INPUT,
    metavar="MERGED",
    help="Copy this folder with what its loader dropped put back from the base.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="MERGED=BASE",
    help="Tensor names that start so in MERGED start so in the base; may be repeated.",
)
@click.option("--base-called", help="What the adapter calls this base, if not as its folder.")
@click.option(
    "--compare-on",
    type=INPUT,
    metavar="DATA",
    help="Score these items by base, base + adapter and merged model, and compare the three.",
)
@click.option(
    "--judge", type=INPUT, help="Causal judge (.toml) to compare with: prompt, precision, device."
)
@json_option
def merge(
    *,
    base: str,
    adapter: str | None,
    out: str | None,
    audit_only: str | None,
    restore: str | None,
    rename: Sequence[str],
    base_called: str | None,
    compare_on: str | None,
    judge: str | None,
    json_path: str | None,
) -> None:
    """Merge a LoRA adapter into BASE and account for every tensor, or audit another's merge.

    Every tensor of the base must be in the merged model bit for bit, or be base + delta within
    the rounding of its type. Anything else (missing, renamed, retyped, reshaped, changed, untied,
    unexplained) is listed, nothing is written, and the exit code is 1.
    """
    import msgspec

    from chaincheck.atomic import refuse_clashes
    from chaincheck.training import merge as merging
    from chaincheck.training.adapter import open_adapter
    from chaincheck.training.audit import audit
    from chaincheck.training.score_drift import causal_comparison

    def to_json(plain: dict[str, Any]) -> str:
        return msgspec.json.format(msgspec.json.encode(plain), indent=1).decode()

    _check_use(adapter, out, audit_only, restore, rename)
    if compare_on and (audit_only or not adapter):
        raise UsageError(
            "--compare-on needs an adapter, and a model that is written",
            remedy="See chaincheck merge --help",
        )
    if judge and not compare_on:
        raise UsageError("--judge is for --compare-on", remedy="See chaincheck merge --help")
    refuse_clashes(
        [None if json_path == "-" else json_path],
        [compare_on, judge],
        folders=[base, adapter, audit_only, restore, out],
    )
    renames = dict(_renaming(one) for one in rename)
    if audit_only:
        change = open_adapter(adapter) if adapter else None
        found = audit(base, audit_only, change, renames=renames, progress=_progress)
        emit(found.to_text, lambda: to_json(found.to_dict()), json_path)
        if not found.passed:
            raise found.failure()
        return
    assert out is not None
    compare = (
        causal_comparison(compare_on, base, adapter, judge) if compare_on and adapter else None
    )
    if restore:
        done = merging.restore(
            base,
            restore,
            out,
            adapter=adapter,
            renames=renames,
            base_called=base_called,
            compare=compare,
            progress=_progress,
        )
    else:
        assert adapter is not None
        done = merging.merge(
            base, adapter, out, base_called=base_called, compare=compare, progress=_progress
        )
    emit(done.to_text, lambda: to_json(done.to_dict()), json_path)


def _renaming(text: str) -> tuple[str, str]:
    merged, mark, base = text.partition("=")
    if not mark:
        raise UsageError(
            f"--rename takes MERGED=BASE, not {text!r}", remedy="Example: --rename model.=text."
        )
    return merged, base


def _check_use(
    adapter: str | None,
    out: str | None,
    audit_only: str | None,
    restore: str | None,
    rename: Sequence[str],
) -> None:
    remedy = "See chaincheck merge --help"
    if audit_only and (out or restore):
        raise UsageError("--audit-only writes nothing and restores nothing", remedy=remedy)
    if not audit_only and not out:
        raise UsageError("--out is missing: the folder to write", remedy=remedy)
    if not (adapter or audit_only or restore):
        raise UsageError("--adapter is missing: there is nothing to merge", remedy=remedy)
    if rename and not (audit_only or restore):
        raise UsageError("--rename is about a model that others merged", remedy=remedy)


@click.group(
    epilog=examples(
        "chaincheck gate plan gate.toml",
        "chaincheck gate score gate.toml --judge base.toml --role base",
        "chaincheck gate score gate.toml --judge merged.toml --role candidate",
        "chaincheck gate check gate.toml --json verdict.json",
    )
)
def gate() -> None:
    """Decide on a release by conditions that were fixed before anything was scored.

    In this order: write gate.toml; plan; publish the id; score base and candidate; check. An
    example of gate.toml:

    \b
        name = "chain judge, first release"
        base = "base.log.jsonl"
        candidate = "candidate.log.jsonl"
        margin = 0.02
        cluster = "bridge"
        [[data]]
        path = "test.jsonl.gz"
        sigma = ["real", "fict"]
        nominal = ["real"]
    """  # noqa: D301 - click takes the character itself for "leave these lines as they are"


@gate.command("plan", epilog=examples("chaincheck gate plan gate.toml"))
@click.argument("plan_path", metavar="PLAN", type=INPUT)
def gate_plan(plan_path: str) -> None:
    """Fix the conditions of PLAN: write PLAN's lock, with the hash of conditions and data.

    Refused where the candidate's log holds judgments of these data already.
    """
    from chaincheck.training.gate_plan import lock_plan

    tell(lock_plan(plan_path).to_text())


@gate.command(
    "score",
    epilog=examples(
        "chaincheck gate score gate.toml --judge base.toml --role base",
        "chaincheck gate score gate.toml --judge merged.toml --role candidate",
    ),
)
@click.argument("plan_path", metavar="PLAN", type=INPUT)
@click.option("--judge", required=True, help="A judge's .toml file.")
@click.option(
    "--role", required=True, type=click.Choice(["base", "candidate"]), help="Whose log to write."
)
def gate_score(plan_path: str, judge: str, role: Literal["base", "candidate"]) -> None:
    """Ask a judge for all data of PLAN; every judgment carries the gate's id.

    Refused where the other judge's log shows that the two differ in more than their weights.
    """
    from chaincheck.judges import open_judge
    from chaincheck.training.gate import refuse_unlike
    from chaincheck.training.gate_plan import open_lock
    from chaincheck.training.gate_score import score_for_gate

    lock = open_lock(plan_path)  # before a model is loaded
    opened = open_judge(judge)
    refuse_unlike(lock, opened, role)
    tell(score_for_gate(plan_path, opened, role, progress=_progress))


@gate.command(
    "check",
    epilog=examples(
        "chaincheck gate check gate.toml", "chaincheck gate check gate.toml --json verdict.json"
    ),
)
@click.argument("plan_path", metavar="PLAN", type=INPUT)
@json_option
def gate_check(plan_path: str, json_path: str | None) -> None:
    """Hold the recorded judgments against the conditions; asks no judge.

    Exit codes: 0 pass, 1 fail, 2 input that cannot be used, such as a judgment that is not
    recorded, 3 conditions, data or judgments that are not those that were fixed.
    """
    from chaincheck.atomic import refuse_clashes
    from chaincheck.training.gate import check_gate
    from chaincheck.training.sealed import sealed_json

    verdict = check_gate(plan_path)
    lock = verdict.lock
    logs = [lock.folder / log for log in (lock.plan.base, lock.plan.candidate)]
    refuse_clashes(
        [None if json_path == "-" else json_path],
        [plan_path, lock.path, *logs, *lock.data_paths()],
    )
    emit(verdict.to_text, lambda: sealed_json(verdict.to_dict()), json_path)
    if not verdict.passed:
        raise verdict.failure()


@click.command(epilog=examples("chaincheck card merged --run run --verdict verdict.json"))
@click.argument("merged", type=INPUT)
@click.option("--run", required=True, type=INPUT, help="Folder of the training run.")
@click.option(
    "--verdict", required=True, type=INPUT, help="What chaincheck gate check --json wrote."
)
@click.option("--out", type=OUTPUT, help="The card; by default README.md of MERGED.")
def card(merged: str, run: str, verdict: str, out: str | None) -> None:
    """Write the model card of MERGED from the records of its training, merge and gate.

    Refused where a record is missing, was changed, or is of another model.
    """
    from chaincheck.training.card import write_card

    tell(f"{write_card(merged, run, verdict, out)}: written", out)
