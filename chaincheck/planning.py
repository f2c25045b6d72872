"""How many triplets does it take? Plans for one judge, for two, and for "not worse than".

One judge is planned for by :mod:`chaincheck.power`. Two judges on the same triplets need far
fewer triplets than two judges on different ones, by as much as they agree; so a plan for two
needs to know in how large a share of triplets they differ, the discordance. A small trial run
through :func:`chaincheck.comparison.compare` gives it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chaincheck.errors import UsageError
from chaincheck.intervals import FloatArray, normal_quantile
from chaincheck.paired_intervals import shows_not_worse
from chaincheck.paired_simulation import coupled_table, discordance, pair_contrasts
from chaincheck.power import contrast_power, needed_n, win_table

__all__ = [
    "Plan",
    "agreement_for",
    "difference_power",
    "needed_for_difference",
    "plan_difference",
    "plan_not_worse",
    "plan_selectivity",
]

_LARGEST_N = 10_000_000
_DRAWS = 20_000
_MOST_SUMMED = 20_000
_SURE = 0.999  # as of paired_intervals: what must exclude EE = 0 before one contrast is let go


@dataclass(frozen=True)
class Plan:
    """How many triplets a decision needs.

    Attributes:
        question: the decision, in words.
        n: fewest triplets with which it is reached with probability ``power``; None where ten
            million are too few, or where there is nothing to show.
        power: that probability.
        level: nominal coverage of the interval that decides.
        assumed: what was assumed, by name.
        at: power at some numbers of triplets around n, for a curve.
    """

    question: str
    n: int | None
    power: float
    level: float
    assumed: Mapping[str, float]
    at: tuple[tuple[int, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return {
            "question": self.question,
            "triplets": self.n,
            "power": self.power,
            "level": self.level,
            "assumed": dict(self.assumed),
            "power_at": [list(point) for point in self.at],
        }

    def to_text(self) -> str:
        """The plan as a few lines."""
        assumed = ", ".join(f"{name} {value:g}" for name, value in self.assumed.items())
        found = "no number of triplets" if self.n is None else f"{self.n:,} triplets"
        lines = [f"{self.question}: {found}", f"  assumed: {assumed}"]
        lines.append(
            f"  with probability {self.power * 100:g}%, by a {self.level * 100:g}% interval"
        )
        lines += [f"  {n:>9,} triplets: power {power:.2f}" for n, power in self.at]
        return "\n".join(lines)


def agreement_for(first: ArrayLike, second: ArrayLike, share: float) -> float:
    """Weight of agreement at which two judges' outcomes differ in a given share of triplets.

    Args:
        first: outcomes of the first judge, as of :func:`chaincheck.power.win_table`.
        second: those of the second.
        share: the discordance, see :func:`chaincheck.paired_simulation.discordance`.

    Returns:
        The weight for :func:`chaincheck.paired_simulation.coupled_table`.

    Raises:
        UsageError: two judges with these effects differ more or less often than that.
    """
    most = discordance(coupled_table(first, second, 0.0))
    least = discordance(coupled_table(first, second, 1.0))
    if not least - 1e-12 <= share <= most + 1e-12:
        raise UsageError(
            f"judges with these effects differ in {least:.3f} to {most:.3f} of the triplets, "
            f"not in {share:g}",
            remedy="Name a discordance in that range; compare reports it for two score files",
        )
    return 0.0 if most == least else min(1.0, max(0.0, (most - share) / (most - least)))


def difference_power(
    table: ArrayLike, n: int, *, level: float = 0.95, design_effect: float = 1.0
) -> float:
    """Probability that n triplets show the first judge to have the higher Sigma.

    That is, that the lower end of
    :func:`chaincheck.paired_intervals.sigma_difference_bounds` exceeds 0. The four contrasts
    are taken as jointly normal; the rule is applied to 20,000 draws of them, always the same
    ones, so the answer is exact to about 0.003 and depends on no seed.

    Args:
        table: shape (9, 9), as of :func:`chaincheck.paired_simulation.coupled_table`.
        n: number of triplets.
        level: nominal coverage of the interval.
        design_effect: variance under clustering over the variance without it; divides n.
    """
    if n < 1 or design_effect <= 0:
        raise ValueError(f"power needs n >= 1 and a positive design effect, not {n!r}")
    return _power_of(table, level, design_effect)(n)


def _power_of(table: ArrayLike, level: float, design_effect: float) -> Callable[[int], float]:
    """Power as a function of n, with what does not depend on n done once."""
    means, covariance = pair_contrasts(table)
    values, vectors = np.linalg.eigh(covariance)
    half = np.random.default_rng(0).standard_normal((_DRAWS // 2, 4))
    errors = np.concatenate([half, -half]) * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T
    tail = (1.0 - level) / 2.0
    alone, shared = normal_quantile(1.0 - tail), normal_quantile(1.0 - tail / 2.0)
    sure = normal_quantile((1.0 + _SURE) / 2.0)
    spread = np.array([[_sd(covariance, _axis(i) - _axis(2 + j)) for j in (0, 1)] for i in (0, 1)])
    edit_sd = _sd(covariance, (_axis(3) - _axis(2)) / 2.0)

    def power(n: int) -> float:
        scale = math.sqrt(design_effect / n)
        seen: FloatArray = means + errors * scale
        edit = (seen[:, 3] - seen[:, 2]) / 2.0
        kept = [edit >= -sure * edit_sd * scale, edit <= sure * edit_sd * scale]
        z = np.where(kept[0] & kept[1], shared, alone)
        lower = np.full((2, len(seen)), -np.inf)
        for i in (0, 1):
            for j in (0, 1):
                low = seen[:, i] - seen[:, 2 + j] - z * spread[i, j] * scale
                lower[i] = np.maximum(lower[i], np.where(kept[j], low, -np.inf))
        return float(np.mean(lower.min(axis=0) > 1e-12))

    return power


def _axis(k: int) -> FloatArray:
    return np.asarray(np.eye(4)[k])


def _sd(covariance: FloatArray, direction: FloatArray) -> float:
    return math.sqrt(max(0.0, float(direction @ covariance @ direction)))


def needed_for_difference(
    table: ArrayLike, *, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0
) -> int | None:
    """Fewest triplets with which :func:`difference_power` reaches ``power``.

    Returns:
        The number, or None where the first judge's Sigma is not the higher one or ten million
        triplets are too few.
    """
    means, _ = pair_contrasts(table)
    if means[:2].min() - means[2:].min() <= 1e-12:
        return None
    return _fewest(_power_of(table, level, design_effect), power)


def _fewest(power_of: Callable[[int], float], power: float) -> int | None:
    low, high = 0, 1
    while power_of(high) < power:
        low, high = high, high * 2
        if low > _LARGEST_N:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power_of(middle) < power else (low, middle)
    return high


def _curve(power_of: Callable[[int], float], n: int | None) -> tuple[tuple[int, float], ...]:
    if n is None:
        return ()
    points = sorted({max(1, round(n * share)) for share in (0.25, 0.5, 1.0, 1.5, 2.0)})
    return tuple((point, power_of(point)) for point in points)


def _checked(power: float, level: float, design_effect: float) -> None:
    for name, value in (("power", power), ("level", level)):
        if not 0.0 < value < 1.0:
            raise UsageError(f"{name} must lie between 0 and 1, not {value:g}")
    if not design_effect > 0.0:
        raise UsageError(f"a design effect must be above 0, not {design_effect:g}")


def _judge(sigma: float, edit_effect: float, whose: str = "") -> FloatArray:
    """Outcomes of a judge with this Sigma and EE; CE is what the two leave."""
    if not -1.0 <= sigma <= 0.5 or not -0.5 <= edit_effect <= 0.5:
        raise UsageError(f"{whose}Sigma must lie in -1..0.5 and EE in -0.5..0.5")
    chain = sigma + abs(edit_effect)
    if abs(chain) > 0.5 + 1e-12:
        raise UsageError(
            f"{whose}Sigma {sigma:g} with EE {edit_effect:g} needs a chain effect of {chain:g}",
            remedy="CE = Sigma + |EE| lies in -0.5..0.5: name another Sigma or EE",
        )
    return win_table(max(-0.5, min(chain, 0.5)), edit_effect)


def plan_selectivity(
    sigma: float,
    *,
    edit_effect: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> Plan:
    """Plan how many triplets show that one judge's Sigma is above 0.

    Args:
        sigma: the judge's true Sigma, as far as one can guess.
        edit_effect: its true EE. At one Sigma, EE = 0 needs the most triplets, since both
            contrasts must then be shown.
        power: probability of showing it.
        level: nominal coverage of the contrast interval, which decides.
        design_effect: variance under clustering over that without; multiplies n.

    Raises:
        UsageError: effects that no judge has, or options out of range.
    """
    _checked(power, level, design_effect)
    table = _judge(sigma, edit_effect)
    n = needed_n(table, power=power, level=level, design_effect=design_effect)
    return Plan(
        question=f"to show that a Sigma of {sigma:g} is above 0",
        n=n,
        power=power,
        level=level,
        assumed={"Sigma": sigma, "EE": edit_effect, "design effect": design_effect},
        at=_curve(
            lambda size: contrast_power(table, size, level=level, design_effect=design_effect), n
        ),
    )


def plan_difference(
    sigma: float,
    against: float,
    *,
    differ: float,
    edit_effect: float = 0.0,
    against_edit_effect: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> Plan:
    """Plan how many triplets show that one judge's Sigma is above another's.

    Args:
        sigma: true Sigma of the judge that is thought better.
        against: true Sigma of the other.
        differ: share of triplets in which the two judges' outcomes differ, in B > D or A > B;
            ``discordance`` of a comparison.
        edit_effect: true EE of the first judge.
        against_edit_effect: true EE of the other.
        power: probability of showing it.
        level: nominal coverage of the two-step interval, which decides.
        design_effect: variance under clustering over that without; multiplies n.

    Raises:
        UsageError: effects that no judge has, a discordance that two judges with these effects
            cannot have, or options out of range.
    """
    _checked(power, level, design_effect)
    first = _judge(sigma, edit_effect)
    second = _judge(against, against_edit_effect, "the other judge's ")
    table = coupled_table(first, second, agreement_for(first, second, differ))
    n = needed_for_difference(table, power=power, level=level, design_effect=design_effect)
    return Plan(
        question=f"to show that a Sigma of {sigma:g} is above one of {against:g}",
        n=n,
        power=power,
        level=level,
        assumed={
            "EE": edit_effect,
            "the other's EE": against_edit_effect,
            "discordance": differ,
            "design effect": design_effect,
        },
        at=_curve(_power_of(table, level, design_effect), n),
    )


def plan_not_worse(
    margin: float,
    *,
    differ: float,
    difference: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> Plan:
    """Plan how many triplets show that a judge's Nominal is not lower by more than a margin.

    The decision is :func:`chaincheck.paired_intervals.shows_not_worse`. Its power is summed over
    all numbers of gains and losses, and moves in small steps: a triplet more may lower it a
    little. Above 20,000 triplets the normal approximation is used; with v = differ -
    difference^2 it is ::

        n = (z_{(1 + level)/2} + z_power)^2 v / (margin + difference)^2

    which with few discordant triplets would promise too much: at n = 197 and a discordance of
    1%, 47% power for 80%.

    Args:
        margin: how much lower is still acceptable, above 0.
        differ: share of triplets in which the two judges' A > D outcomes differ.
        difference: true difference of Nominal, the judge's less the other's.
        power: probability of showing it.
        level: two-sided level whose lower side decides: 0.95 is 97.5% one-sided.
        design_effect: variance under clustering over that without; multiplies n.

    Raises:
        UsageError: options out of range.
    """
    _checked(power, level, design_effect)
    if not 0.0 < margin < 1.0 or not 0.0 <= differ <= 1.0 or abs(difference) > differ:
        raise UsageError(
            "a margin must lie between 0 and 1, a discordance in 0..1, and a difference within it"
        )
    question = f"to show that Nominal is not lower by more than {margin:g}"
    assumed = {
        "difference": difference,
        "discordance of A > D": differ,
        "design effect": design_effect,
    }
    if margin + difference <= 1e-12:
        return Plan(question, None, power, level, assumed)
    one_sided = (1.0 + level) / 2.0
    quantiles = normal_quantile(one_sided) + normal_quantile(power)
    spread = differ - difference**2
    rough = math.ceil(quantiles**2 * spread / (margin + difference) ** 2)
    if rough > _LARGEST_N:
        return Plan(question, None, power, level, assumed)
    if rough > _MOST_SUMMED:
        return Plan(question, math.ceil(rough * design_effect), power, level, assumed)
    shares = (differ + difference) / 2.0, (differ - difference) / 2.0

    def power_of(n: int) -> float:
        return _not_worse_power(n, shares, margin, one_sided)

    n = _fewest(power_of, power)
    if n is None:
        return Plan(question, None, power, level, assumed)
    return Plan(
        question,
        math.ceil(n * design_effect),
        power,
        level,
        assumed,
        tuple((math.ceil(size * design_effect), value) for size, value in _curve(power_of, n)),
    )


def _not_worse_power(n: int, shares: tuple[float, float], margin: float, level: float) -> float:
    """Probability that n triplets show it, for shares of gains and of losses."""
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, n + 1)))])
    reach = []
    for share in shares:
        middle, width = n * share, 8.0 * math.sqrt(n * share * (1.0 - share)) + 8.0
        top = n if share > 0.0 else 0
        reach.append(np.arange(max(0, int(middle - width)), min(top, int(middle + width)) + 1))
    gained, lost = np.meshgrid(*reach, indexing="ij")
    gained, lost = gained[gained + lost <= n], lost[gained + lost <= n]
    same = n - gained - lost
    log_chance = log_factorial[n] - log_factorial[gained] - log_factorial[lost]
    log_chance = log_chance - log_factorial[same]
    for count, share in zip((gained, lost, same), (*shares, 1.0 - sum(shares)), strict=True):
        # 0 log 0 is 0: what cannot happen has happened no times.
        log_chance = log_chance + count * math.log(max(share, 1e-300))
    shown = shows_not_worse(gained, lost, n, margin, level)
    return float(np.exp(log_chance[shown]).sum())
