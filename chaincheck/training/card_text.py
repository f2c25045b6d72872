"""The text of a model card: front matter and Markdown, every value from a record and escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from chaincheck import __version__
from chaincheck.errors import one_line
from chaincheck.judges.prompts import Prompt, load_prompt

if TYPE_CHECKING:
    from chaincheck.training.card import CardRecords

__all__ = ["card_text", "escaped", "table"]

# What Markdown or HTML would take for more than itself.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~$&])")
_OURS = ("sufficiency", "number", "bare")
_QUANTITIES = (
    ("nominal", "Nominal"),
    ("chain_effect", "CE"),
    ("edit_effect", "EE"),
    ("selectivity", "Sigma"),
)


def escaped(value: object) -> str:
    """A value as one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", one_line(str(value)))


def code(value: object) -> str:
    """A value as inline code; one that holds a grave accent is escaped text instead."""
    text = one_line(str(value))
    return escaped(text) if "`" in text or not text else f"`{text}`"


def fenced(text: str, language: str = "") -> str:
    """A block of code, with a fence longer than any in it."""
    longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already and of one line each."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _number(value: float | None, sign: str = "+") -> str:
    return "n/a" if value is None else f"{value:{sign}.3f}"


def _with_ends(value: float | None, ends: Sequence[float | None] | None, sign: str = "+") -> str:
    if not ends or None in ends:
        return f"{_number(value, sign)} (no interval)"
    return f"{_number(value, sign)} \\[{_number(ends[0], sign)}, {_number(ends[1], sign)}\\]"


def _level(row: Mapping[str, Any]) -> str:
    """The key of the intervals of a row, such as ``ci95``."""
    return next(key.removeprefix("contrast_") for key in row if key.startswith("contrast_"))


def _short(file: str) -> str:
    return PurePosixPath(file.replace("\\", "/")).name


def card_text(records: CardRecords) -> str:
    """Write the card."""
    parts = [
        _front_matter(records),
        *_head(records),
        "## Before and after",
        *_measured(records),
        "## Gate",
        *_gate(records),
        "## Training",
        *_training(records),
        "## Merge",
        *_merge(records),
        "## How to score",
        *_how_to_score(records),
        "## Limits",
        *_limits(records),
        "## Signatures",
        *_signatures(records),
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(records: CardRecords) -> str:
    """YAML, each value written as JSON, which YAML reads alike."""
    rows = records.verdict["candidate"]["rows"]
    results = [
        {
            "task": {"type": "text-classification", "name": "sufficiency of evidence"},
            "dataset": {
                "type": _short(row["file"]),
                "name": f"{_short(row['file'])} {row['variant']}",
            },
            "metrics": [
                {"type": key, "name": name, "value": row[key]} for key, name in _QUANTITIES
            ],
        }
        for row in rows
    ]
    values: dict[str, Any] = {
        "base_model": records.merge["base"]["name"],
        "library_name": "transformers",
        "tags": ["chaincheck", "sufficiency-judge", "lora-merged"],
        "model-index": [{"name": records.name, "results": results}],
    }
    if records.license:
        values["license"] = records.license.lower()
    lines = [f"{key}: {_yaml(value)}" for key, value in sorted(values.items())]
    return "\n".join(["---", *lines, "---"])


def _yaml(value: Any) -> str:
    """JSON on one line; what JSON leaves raw and YAML does not take is dropped from texts."""
    if isinstance(value, str):
        value = one_line(value)
    plain = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return "".join(ch for ch in plain if ch.isprintable())


def _head(records: CardRecords) -> Iterator[str]:
    yield f"# {escaped(records.name)}"
    verdict = "PASS" if records.verdict["passed"] else "FAIL"
    name = escaped(records.verdict["name"])
    yield f"**Gate {name}: {verdict}.** This card was made by chaincheck {__version__}."
    yield (
        "A judge of whether passages suffice to answer a question: the log-odds of yes over no at "
        "the first answer position. It is the base "
        f"{code(records.merge['base']['name'])} with a LoRA adapter merged into its weights."
    )
    if records.scored == "adapter":
        yield (
            "The numbers below are of base and adapter, not of the merged weights; how far these "
            "score otherwise is under Merge."
        )
    if records.license is None:
        yield "The base's records do not state a license."


def _measured(records: CardRecords) -> Iterator[str]:
    verdict = records.verdict
    base = {(row["file"], row["variant"]): row for row in verdict["base"]["rows"]}
    pairs = {(row["file"], row["variant"]): row for row in verdict["comparison"]["rows"]}
    yield (
        "A, B are sufficient contexts (unedited, edited), D is edited and broken. Nominal is how "
        "often A outscores D, CE how often B outscores D less 1/2, EE how often A outscores B less "
        "1/2, Sigma = CE - |EE|. Each with its interval at the gate's level; differences are "
        "paired, candidate less base."
    )
    rows = []
    doubts = []
    for row in verdict["candidate"]["rows"]:
        key = (row["file"], row["variant"])
        ci = _level(row)
        for name, title in _QUANTITIES:
            difference = pairs[key]["difference"][name]
            ends = f"contrast_{ci}" if name == "selectivity" else None
            cells = [
                _with_ends(
                    one[name],
                    one[ends] if ends else one[f"kit_{ci}"][name],
                    "" if name == "nominal" else "+",
                )
                for one in (base[key], row)
            ]
            rows.append(
                [
                    escaped(_short(row["file"])),
                    escaped(row["variant"]),
                    f"{row['pairs']:,}",
                    title,
                    *cells,
                    _with_ends(difference["estimate"], difference[ci]),
                ]
            )
        for who, one in (("base", base[key]), ("candidate", row)):
            where = f"{escaped(_short(row['file']))} {escaped(row['variant'])}"
            doubts += [f"- {who}, {where}: {escaped(note)}" for note in one["notes"]]
    yield table(["file", "variant", "n", "", "base", "candidate", "difference"], rows)
    dropped = verdict["candidate"]["dropped"]
    doubts += [f"- {count:,} triplets left out: {escaped(why)}" for why, count in dropped.items()]
    if doubts:
        yield "Doubts:\n\n" + "\n".join(doubts)


def _gate(records: CardRecords) -> Iterator[str]:
    verdict = records.verdict
    rows = [
        [
            escaped(_short(one["file"])),
            escaped(one["variant"]),
            f"{one['n']:,}",
            "Sigma" if one["kind"] == "sigma" else "Nominal less the base's",
            _number(one["estimate"]),
            _number(one["bound"]),
            f"above {one['threshold']:g}",
            "pass" if one["passed"] else "**fail**",
        ]
        for one in verdict["conditions"]
    ]
    heads = ["file", "variant", "n", "quantity", "estimate", "lower bound", "needed", ""]
    yield table(heads, rows)
    yield (
        f"The conditions were fixed {escaped(verdict['lock']['made'])} under the id "
        f"{code(verdict['gate'])}. The instruments of base and candidate differ in "
        f"{', '.join(code(key) for key in verdict['differences'])} and in nothing else."
    )
    if verdict["notes"]:
        yield "\n".join(f"- {escaped(note)}" for note in verdict["notes"])


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _leaves(value[key], f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _settings(value: Any) -> str:
    rows = [[code(key), code(json.dumps(one, ensure_ascii=False))] for key, one in _leaves(value)]
    return table(["setting", "value"], [[_in_cell(one) for one in row] for row in rows])


def _in_cell(markdown: str) -> str:
    """Escape bars: one would end a table's cell, in code too."""
    return re.sub(r"(?<!\\)\|", r"\\|", markdown)


def _training(records: CardRecords) -> Iterator[str]:
    training = records.training
    seen = ", ".join(f"{count:,} {escaped(name)}" for name, count in training["triplets"].items())
    yield (
        f"{training['steps'][0]:,} of {training['steps'][1]:,} planned steps on {seen} triplets; "
        f"the state of step {training['kept']:,} is kept. Data {code(training['data'])}, "
        f"validation {code(training['validation'] or 'none')}, recipe {code(training['recipe'])}."
    )
    yield _settings(records.run["recipe"])
    yield "Run on:"
    yield _settings(training["acquisition"])


def _merge(records: CardRecords) -> Iterator[str]:
    merge = records.merge
    audit = merge["audit"]
    counts = ", ".join(f"{count:,} {escaped(kind)}" for kind, count in audit["counts"].items())
    lost = audit["lost"]
    lines = [f"- tensors of the base, each accounted for: {counts}"]
    if lost is not None:
        lines.append(f"- share of the delta that rounding took away: {lost:.2%}")
    drift = merge.get("scores")
    if drift:
        flips = ", ".join(
            f"{escaped(name)} {drift['flips'][name]:,} of {count:,}"
            for name, count in drift["compared"].items()
        )
        lines.append(
            f"- scores of base and adapter against those of the merged weights, "
            f"{drift['items']:,} items: they differ by {drift['mean']:.3g} on average and "
            f"{drift['largest']:.3g} at most; orders that differ: {flips or 'none compared'}"
        )
        if drift.get("arrived") is not None:
            lines.append(
                f"- training moved these scores by {drift['moved']:.3g} on average, of which "
                f"{drift['arrived']:.0%} arrived in the merged weights"
            )
    else:
        lines.append("- scores of base and adapter were not compared with the merged model's")
    warnings = (*audit.get("warnings", ()), *(drift or {}).get("warnings", ()))
    lines += [f"- **warning:** {escaped(one)}" for one in warnings]
    lines += [f"- {escaped(note)}" for note in audit["notes"]]
    yield "\n".join(lines)


def _how_to_score(records: CardRecords) -> Iterator[str]:
    instrument = records.verdict["instruments"]["candidate"]
    yield "Save this as `judge.toml` beside the model's folder:"
    prompt, text = _prompt(instrument["prompt"])
    lines = [
        'kind = "causal"',
        f"model = {_toml(records.name)}",
        f"prompt = {_toml(prompt)}",
        f"dtype = {_toml(instrument['dtype'])}",
        f"attention = {_toml(instrument['attention'])}",
        f"minimum_mass = {_toml(instrument['minimum_mass'])}",
        *_optional(instrument),
    ]
    yield fenced("\n".join(lines), "toml")
    if text:
        yield f"and this as `{prompt}`:"
        yield fenced(text, "toml")
    yield fenced(
        "chaincheck build --source facts --out triplets.jsonl.gz\n"
        "chaincheck score --data triplets.jsonl.gz --judge judge.toml --out scores.jsonl\n"
        "chaincheck evaluate --data triplets.jsonl.gz --scores scores.jsonl",
        "console",
    )


def _optional(instrument: Mapping[str, Any]) -> Iterator[str]:
    """Keys of a judge's file that only some models need."""
    files = sorted(instrument["model"].get("code") or {})
    if files:
        yield f"code = {_toml(files)}"
    arguments = (instrument.get("chat") or {}).get("arguments") or {}
    if arguments:
        yield f"chat_arguments = {_toml(arguments)}"


def _prompt(settings: Mapping[str, Any]) -> tuple[str, str]:
    """The prompt's name if it is one of ours, else a file's name and what it holds."""
    for name in _OURS:
        if json.loads(msgspec.json.encode(load_prompt(name).settings)) == settings:
            return name, ""
    standard = Prompt(name="", user="", passage="").settings
    lines = [
        f"{key} = {_toml(value)}"
        for key, value in settings.items()
        if json.loads(msgspec.json.encode(standard.get(key))) != value
    ]
    return "prompt.toml", "\n".join(lines)


def _toml(value: Any) -> str:
    """A value as TOML has it: JSON, but for tables, and characters that JSON writes as two."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(k)} = {_toml(one)}" for k, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _limits(records: CardRecords) -> Iterator[str]:
    """What the numbers themselves warn of, and what the gate cannot prove."""
    lines = []
    measured = {row["variant"] for row in records.verdict["candidate"]["rows"]}
    for variant in ("real", "fict", "decoy"):
        if variant not in measured:
            lines.append(f"- Not measured on {variant} triplets.")
    for row in records.verdict["candidate"]["rows"]:
        ci = _level(row)
        where = f"{escaped(_short(row['file']))} {escaped(row['variant'])}"
        ends = row[f"kit_{ci}"]["edit_effect"]
        if ends and None not in ends and (ends[0] > 0 or ends[1] < 0):
            side = "unedited" if ends[0] > 0 else "edited"
            lines.append(
                f"- On {where} it prefers {side} contexts to equally sufficient others: "
                f"EE {_with_ends(row['edit_effect'], ends)}."
            )
        ends = row[f"contrast_{ci}"]
        if not ends or ends[0] is None or ends[0] <= 0:
            lines.append(
                f"- On {where} it is not shown that the chain counts for more than the edit: "
                f"Sigma {_with_ends(row['selectivity'], ends)}."
            )
    for pair in records.verdict["comparison"]["rows"]:
        difference = pair["difference"]["selectivity"]
        ends = next(value for key, value in difference.items() if key.startswith("ci"))
        if ends and None not in ends and ends[1] < 0:
            lines.append(
                f"- On {escaped(_short(pair['file']))} {escaped(pair['variant'])} its Sigma is "
                f"lower than the base's: {_with_ends(difference['estimate'], ends)}."
            )
    lines.append(
        "- A score is a log-odds, comparable within a question; it is no probability that the "
        "passages suffice."
    )
    lines += [f"- {escaped(limit)}" for limit in records.verdict["limits"]]
    yield "\n".join(lines)


def _signatures(records: CardRecords) -> Iterator[str]:
    verdict = records.verdict
    rows = [
        ["base, measured", code(verdict["base"]["signature"])],
        ["candidate, measured", code(verdict["candidate"]["signature"])],
        ["compared", code(verdict["comparison"]["signature"])],
        ["weights of the base", code(records.merge["base"]["weights"])],
        ["weights of this model", code(records.merge["merged"]["weights"])],
    ]
    for name in ("base", "candidate"):
        found = verdict["provenance"][name]
        rows.append([f"judgments of the {name}", code(found["judgments"])])
        rows += [[f"log {escaped(log)}", code(digest)] for log, digest in found["logs"].items()]
    for data in verdict["lock"]["data"]:
        rows.append([f"data {escaped(_short(data['path']))}", code(data["items"])])
    rows += [[f"record {escaped(name)}", code(one)] for name, one in records.hashes.items()]
    yield table(["what", "hash or signature"], [[one, _in_cell(two)] for one, two in rows])
