"""What a build did: how many triplets, which rule rejected what, with examples."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

__all__ = ["BuildReport", "Example"]

_MOST_EXAMPLES = 20


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One rejected chain in one variant.

    Attributes:
        source_id: the record.
        link: which hop would have been broken.
        variant: "real", "fict" or "decoy".
        reasons: every rule that failed, in order, with its reason.
    """

    source_id: str
    link: int
    variant: str
    reasons: tuple[tuple[str, str], ...]


class BuildReport(msgspec.Struct, kw_only=True):
    """Counts of one build.

    Attributes:
        records: records read.
        chains: breakable links found in them.
        triplets: written triplets by variant.
        rejected: (chain, variant) pairs by the first rule that failed, and the number of
            ``unusable`` records.
        rejected_by_variant: the same by variant.
        unusable: unusable records by the code of their reason.
        by_hops: for each number of hops, chains and triplets by variant.
        yielding: records that gave at least one triplet, by variant and number of hops.
        decoys: how many decoys were put in the place of a distractor, and in how many the
            surface counts of both names tie.
        left_out: triplets by the number of distractors that were left out of their context.
        cell_c: how many triplets got a cell C, and how many could get none.
        parts: where a test split was asked for, triplets by part ("train", "test") and variant.
        examples: for each rule up to 20 rejections.
    """

    records: int = 0
    chains: int = 0
    triplets: dict[str, int] = {}
    rejected: dict[str, int] = {}
    rejected_by_variant: dict[str, dict[str, int]] = {}
    unusable: dict[str, int] = {}
    by_hops: dict[str, dict[str, int]] = {}
    yielding: dict[str, dict[str, int]] = {}
    decoys: dict[str, int] = {}
    left_out: dict[str, int] = {}
    cell_c: dict[str, int] = {}
    parts: dict[str, dict[str, int]] = {}
    examples: dict[str, list[Example]] = {}

    def count_unusable(self, code: str) -> None:
        """Count a record that yields no chain."""
        self.unusable[code] = self.unusable.get(code, 0) + 1
        self.rejected["unusable"] = self.rejected.get("unusable", 0) + 1

    def count_chain(self, hops: int) -> None:
        """Count a breakable link."""
        self.chains += 1
        group = self.by_hops.setdefault(str(hops), {"chains": 0})
        group["chains"] += 1

    def count_triplet(self, variant: str, hops: int, left_out: int = 0) -> None:
        """Count a written triplet, and the distractors that were left out of its context."""
        self.left_out[str(left_out)] = self.left_out.get(str(left_out), 0) + 1
        self.triplets[variant] = self.triplets.get(variant, 0) + 1
        group = self.by_hops.setdefault(str(hops), {"chains": 0})
        group[variant] = group.get(variant, 0) + 1

    def count_decoy(self, *, placed: bool, tied: bool) -> None:
        """Count a decoy."""
        for key, flag in (("placed", placed), ("tied", tied)):
            self.decoys[key] = self.decoys.get(key, 0) + flag

    def count_rejection(self, example: Example) -> None:
        """Count a rejected chain in one variant under the first rule that failed."""
        rule = example.reasons[0][0]
        self.rejected[rule] = self.rejected.get(rule, 0) + 1
        group = self.rejected_by_variant.setdefault(example.variant, {})
        group[rule] = group.get(rule, 0) + 1
        examples = self.examples.setdefault(rule, [])
        if len(examples) < _MOST_EXAMPLES:
            examples.append(example)

    def _commonest(self, variant: str) -> str | None:
        """The reason that stands first most often among a variant's examples."""
        reasons = Counter(
            one.reasons[0][1]
            for group in self.examples.values()
            for one in group
            if one.variant == variant
        )
        return reasons.most_common(1)[0][0] if reasons else None

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    def to_json(self) -> str:
        """The report as indented JSON text."""
        return msgspec.json.format(msgspec.json.encode(self, order="sorted"), indent=1).decode()

    def to_text(self) -> str:
        """The report as a few lines."""
        lines = [
            f"{self.records:,} records, {self.chains:,} links, "
            + ", ".join(f"{count:,} {variant}" for variant, count in self.triplets.items())
        ]
        for part, counts in self.parts.items():
            told = ", ".join(f"{count:,} {variant}" for variant, count in counts.items())
            lines.append(f"{part}: {told or 'no triplet'}")
        for variant, rules in self.rejected_by_variant.items():
            told = ", ".join(f"{rule} {rules[rule]:,}" for rule in sorted(rules))
            lines.append(f"rejected ({variant}): {told}")
        for variant in (name for name, count in self.triplets.items() if not count):
            why = self._commonest(variant)
            if why:
                lines.append(f"no {variant} triplet: most often since {why}")
        if self.unusable:
            told = ", ".join(f"{code} {count:,}" for code, count in sorted(self.unusable.items()))
            lines.append(f"unusable records: {told}")
        return "\n".join(lines)
