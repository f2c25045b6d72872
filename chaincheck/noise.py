"""How much of a judge's edit effect could be the noise of scoring?

A judge that is scored twice on the same items, with another batch size, precision or device,
should give the same scores. Where it does not, some A-versus-B comparisons change their order,
and an edit effect made of such comparisons is worth nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaincheck.cells import CellScores
from chaincheck.comparison import compare
from chaincheck.intervals import FloatArray, Interval, wilson
from chaincheck.paired_results import COMPARISONS, Difference, Flip, Orders
from chaincheck.results import By

__all__ = [
    "PROBABILITIES",
    "FlipRate",
    "NoiseFloor",
    "coin_quantile",
    "measure_noise",
    "smallest_edit_effect",
]

PROBABILITIES = (0.5, 0.9, 0.975, 1.0)
"""Which quantiles describe a distribution of absolute differences; 1 is the largest."""

_MANY_TIES = 0.1
_RISK = PROBABILITIES.index(0.975)


@dataclass(frozen=True, slots=True)
class FlipRate:
    """How often one comparison came out otherwise the second time.

    Attributes:
        name: "A>D", "B>D" or "A>B".
        reversed: triplets whose order turned round.
        changed: triplets whose outcome changed; to or from a tie included.
        rate: share of these with its Wilson interval.
        disturbance: mean squared change of the outcome: a reversal counts 1, a change to or from
            a tie 1/4.
    """

    name: str
    reversed: int
    changed: int
    rate: Interval
    disturbance: float


@dataclass(frozen=True)
class NoiseFloor:
    """What scoring twice says about one file and variant.

    Attributes:
        file, variant: as of the scores.
        n: number of triplets.
        level: nominal coverage of every interval.
        flip_rates: "A>D", "B>D", "A>B".
        gaps: quantiles of |score A - score B| at ``PROBABILITIES``, first scoring.
        item_noise: quantiles of |score - rescore| over all cells A, B and D.
        gap_noise: quantiles of the change of score A - score B.
        at_risk: share of triplets whose |score A - score B| is not above the 97.5% quantile of
            that change.
        edit_effects: EE of the first scoring and of the second.
        shift: their difference with interval and sign-flip p: whether the second scoring moved
            EE in one direction.
        noise_sd: standard deviation that scoring noise gives to EE, sqrt(disturbance/(2 n)).
        smallest_edit: the smallest |EE| to trust, see :func:`smallest_edit_effect`.
        flips: the comparisons that changed.
        notes: doubts, each a short phrase.
    """

    file: str
    variant: str
    n: int
    level: float
    flip_rates: Mapping[str, FlipRate]
    gaps: tuple[float, ...]
    item_noise: tuple[float, ...]
    gap_noise: tuple[float, ...]
    at_risk: float
    edit_effects: tuple[float, float]
    shift: Difference
    noise_sd: float
    smallest_edit: float
    flips: tuple[Flip, ...]
    notes: tuple[str, ...]

    @property
    def trusted(self) -> tuple[bool, bool]:
        """Whether |EE| of each scoring is above the smallest one to trust."""
        first, second = self.edit_effects
        return abs(first) > self.smallest_edit, abs(second) > self.smallest_edit

    def to_row(self) -> dict[str, Any]:
        """One row of ``--json``: plain numbers, unrounded; None for what is not finite."""
        ci = f"ci{self.level * 100:g}"
        return {
            "file": self.file,
            "variant": self.variant,
            "pairs": self.n,
            "flip_rates": {
                name: {
                    "reversed": one.reversed,
                    "changed": one.changed,
                    "rate": one.rate.estimate,
                    f"wilson_{ci}": one.rate.ends,
                    "disturbance": one.disturbance,
                }
                for name, one in self.flip_rates.items()
            },
            "quantiles": list(PROBABILITIES),
            "gap_a_b": _finite(self.gaps),
            "score_rescore": _finite(self.item_noise),
            "gap_a_b_change": _finite(self.gap_noise),
            "at_risk": self.at_risk,
            "edit_effects": list(self.edit_effects),
            "edit_effect_shift": {
                "estimate": self.shift.interval.estimate,
                ci: self.shift.interval.ends,
                "p": self.shift.p,
            },
            "noise_sd": self.noise_sd,
            "smallest_edit_effect": self.smallest_edit,
            "flips": [
                {"pair_id": flip.pair_id, "comparison": flip.comparison, "reversed": flip.reversed}
                for flip in self.flips
            ],
            "notes": list(self.notes),
        }


def _finite(values: Sequence[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def coin_quantile(coins: int, level: float = 0.95) -> float:
    """Smallest k such that fair coins show more than k heads too many or too few in 1 - level.

    Too many means above coins/2, so k is a whole number or a half. Exact up to rounding: the
    binomial probabilities are summed from the middle.

    Args:
        coins: how many are tossed.
        level: probability that the number of heads lies within k of coins/2.

    Raises:
        ValueError: a negative number of coins, or a level that is none.
    """
    if coins < 0 or not 0.0 < level < 1.0:
        raise ValueError(f"quantile needs coins >= 0 and 0 < level < 1, not {coins!r}, {level!r}")
    if coins == 0:
        return 0.0
    half = coins // 2
    # P(half + j), up to one common factor, from the ratios of neighbors.
    steps = np.arange(half + 1, coins + 1, dtype=np.float64)
    upper = np.concatenate([[0.0], np.cumsum(np.log((coins + 1 - steps) / steps))])
    weights = np.exp(upper)
    weights = weights[1:] if coins % 2 else weights
    both = 2.0 * weights
    if coins % 2 == 0:
        both[0] = weights[0]  # exactly half heads is one outcome, not two
    within = np.cumsum(both) / both.sum()
    k = int(np.searchsorted(within, level - 1e-12))
    return k + (0.5 if coins % 2 else 0.0)


def smallest_edit_effect(n: int, disturbance: float, level: float = 0.95) -> float:
    r"""The smallest |EE| to trust: what scoring noise alone exceeds in at most 5% of scorings.

    Model: given a triplet, two scorings of it are independent and alike. (A coarse scoring that
    ties and a fine one that does not are not alike; a note says so.) Let q_i be the
    probability that triplet i comes out A > B in one scoring. Then

    - the outcome of one scoring has variance v_i = q_i (1 - q_i), and EE of one scoring has the
      variance sum v_i / n^2 around its mean over all scorings of these same triplets;
    - the outcomes of two scorings differ with probability 2 v_i, so a flip rate f measures the
      sum: f = 2 sum v_i / n. (With ties the same holds of the mean squared change of the
      outcome, in which a change to or from a tie counts 1/4: the disturbance.)

    So noise gives EE the standard deviation sqrt(f / (2 n)), however it is spread over triplets:
    a few that are pure chance or many that rarely flip. It is that of 2 f n fair coins among
    n triplets, and the value returned is their exact quantile, k/n with k of
    :func:`coin_quantile`. An |EE| not above it could come from a judge that on these triplets,
    averaged over scorings, prefers neither A nor B.

    The flip rate that two scorings show is itself uncertain. With the upper end of its Wilson
    interval, which :func:`measure_noise` takes, noise exceeded the value in 0 to 4.2% of 4,000
    simulated scorings (n = 64 to 1,000; flip rates .009 to .33; chance spread evenly, on a few
    triplets, or as normal noise on normal gaps). With the observed rate it did so in up to 59%,
    most where no flip happened to be seen; with the true rate in up to 11%, where fewer than
    about six coins' worth of chance is spread thinly over triplets.

    It is a necessary condition, not a sufficient one. That another draw of TRIPLETS would give
    another EE is what the interval of EE is about; that interval holds scoring noise already.

    Args:
        n: number of triplets.
        disturbance: mean squared change of the A-versus-B outcome from one scoring to another;
            without ties the flip rate. Above 1/2 the two scorings agree less than two tosses of
            a coin, which the model excludes: it counts as 1/2.
        level: share of scorings in which noise alone stays within the value.

    Returns:
        A number from 0 to 1/2.

    Raises:
        ValueError: no triplets, or a disturbance outside 0..1.
    """
    if n < 1 or not 0.0 <= disturbance <= 1.0:
        raise ValueError(f"needs n >= 1 and a disturbance in 0..1, not {n!r}, {disturbance!r}")
    coins = min(n, math.ceil(2.0 * disturbance * n - 1e-9))
    return coin_quantile(coins, level) / n


def measure_noise(
    first: CellScores,
    second: CellScores,
    rng: np.random.Generator,
    *,
    pair_ids: Sequence[str] | None = None,
    resamples: int = 2000,
    exchanges: int = 10_000,
    level: float = 0.95,
    by: By = "triplet",
) -> NoiseFloor:
    """Hold one judge's scores against the same judge's scores of the same items.

    The smallest |EE| to trust is taken at the upper end of the disturbance's Wilson interval:
    that no flip was seen among 100 triplets does not show that there are none.

    Args:
        first: the scores that are to be used.
        second: the same triplets, scored again in another way.
        rng: source of randomness.
        pair_ids: names of the triplets, by default their positions.
        resamples: bootstrap resamples for the interval of the shift.
        exchanges: exchanges of its sign-flip test.
        level: nominal coverage of every interval.
        by: what to resample and to exchange as a whole for the shift. Flip rates and the smallest
            |EE| are about scoring, which takes triplets one by one.

    Raises:
        ValueError: the two are not about the same triplets, or an option out of range.
    """
    found = compare(
        first,
        second,
        rng,
        pair_ids=pair_ids,
        resamples=resamples,
        exchanges=exchanges,
        level=level,
        by=by,
    )
    rates = {name: _flip_rate(found.orders[name], found.n, level) for name in COMPARISONS}
    disturbed = rates["A>B"].disturbance
    bound = wilson(disturbed * found.n, found.n, level).high
    with np.errstate(over="ignore", invalid="ignore"):
        gap, again = first.a - first.b, second.a - second.b
        gaps, gap_noise = np.abs(gap), _quantiles(np.abs(gap - again))
        cells = [(first.a, second.a), (first.b, second.b), (first.d, second.d)]
        item_noise = _quantiles(np.concatenate([np.abs(x - y) for x, y in cells]))
    notes = [note for note in found.notes if "judges" not in note]
    if disturbed > 0.5:
        notes.append("more than half flip: two judges rather than one judge's noise")
    if found.edit_effect.p <= 1.0 - level:
        notes.append("the flips go one way: EE moved by more than chance")
    if not any(one.changed for one in rates.values()):
        notes.append("no comparison changed")
    ties = found.orders["A>B"].ties
    if abs(ties[0] - ties[1]) >= _MANY_TIES * found.n:
        notes.append(f"{ties[0]} ties (A>B) became {ties[1]}: the two scorings are not alike")
    return NoiseFloor(
        file=found.file,
        variant=found.variant,
        n=found.n,
        level=level,
        flip_rates=rates,
        gaps=_quantiles(gaps),
        item_noise=item_noise,
        gap_noise=gap_noise,
        at_risk=float(np.mean(gaps <= gap_noise[_RISK])),
        edit_effects=(found.first.edit_effect, found.second.edit_effect),
        shift=found.edit_effect,
        noise_sd=math.sqrt(disturbed / (2.0 * found.n)),
        smallest_edit=smallest_edit_effect(found.n, bound, level),
        flips=found.flips,
        notes=tuple(notes),
    )


def _quantiles(values: FloatArray) -> tuple[float, ...]:
    """Observed values at ``PROBABILITIES``: the smallest that so large a share does not exceed."""
    found = np.quantile(values, PROBABILITIES, method="inverted_cdf")
    return tuple(float(value) for value in found)


def _flip_rate(orders: Orders, n: int, level: float) -> FlipRate:
    disturbance = (orders.reversed + (orders.changed - orders.reversed) / 4.0) / n
    rate = wilson(orders.changed, n, level)
    return FlipRate(orders.name, orders.reversed, orders.changed, rate, disturbance)
