"""A second, slow way to every number of a comparison: loops and exact fractions, no numpy.

Written from the definitions, apart from the package, which it never imports.
"""

import math
from fractions import Fraction
from itertools import product

from oracles import contrast_interval, effects, members, quantile, win

QUANTITIES = ("nominal", "chain", "edit", "sigma")


def difference(first, second):
    """Differences of two judges, each a tuple (a, b, d) of lists of scores."""
    one, other = effects(*first), effects(*second)
    return {name: one[name] - other[name] for name in QUANTITIES}


def exchanged(first, second, units, change):
    """Both judges' cells after the triplets of some units have changed places.

    What changes places are outcomes, not scores: two judges need not share a scale. So here a
    triplet is its three outcomes.
    """
    one, other = [list(x) for x in first], [list(x) for x in second]
    for unit, flip in zip(units, change, strict=True):
        if flip:
            for i in unit:
                one[i], other[i] = other[i], one[i]
    return one, other


def outcomes(judge):
    a, b, d = judge
    return [[win(a[i], d[i]), win(b[i], d[i]), win(a[i], b[i])] for i in range(len(a))]


def from_outcomes(rows):
    n = len(rows)
    nominal, chain, edit = (sum(row[k] for row in rows) / n for k in range(3))
    chain, edit = chain - Fraction(1, 2), edit - Fraction(1, 2)
    return {"nominal": nominal, "chain": chain, "edit": edit, "sigma": chain - abs(edit)}


def all_exchanges(first, second, cluster=None):
    """Share of ALL exchanges whose difference is at least as far from 0 as the observed one."""
    n = len(first[0])
    units = [[i] for i in range(n)] if cluster is None else members(cluster)
    rows = outcomes(first), outcomes(second)
    observed = difference(first, second)
    count = dict.fromkeys(QUANTITIES, 0)
    for change in product([False, True], repeat=len(units)):
        one, other = (from_outcomes(part) for part in exchanged(*rows, units, change))
        for name in QUANTITIES:
            count[name] += abs(one[name] - other[name]) >= abs(observed[name])
    return {name: Fraction(c, 2 ** len(units)) for name, c in count.items()}


def paired_bootstrap(first, second, picks, cluster=None):
    """Effects of both judges in each resample of the same triplets."""
    n = len(first[0])
    units = [[i] for i in range(n)] if cluster is None else members(cluster)
    found = []
    for drawn in picks:
        rows = [i for unit in drawn for i in units[unit]]
        found.append(
            tuple(
                effects(*([column[i] for i in rows] for column in judge))
                for judge in (first, second)
            )
        )
    return found


def percentile(resampled, name, tail=0.025):
    draws = [one[name] - other[name] for one, other in resampled]
    return quantile(draws, tail), quantile(draws, 1 - tail)


def may_be_smaller(resampled, judge, sure=0.999):
    """Signs s for which CE - s EE may be the smaller contrast of a judge."""
    edits = [each[judge]["edit"] for each in resampled]
    low, high = quantile(edits, (1 - sure) / 2), quantile(edits, (1 + sure) / 2)
    return [sign for sign, open_ in ((1, high >= 0), (-1, low <= 0)) if open_]


def two_step(resampled, tail=0.025):
    """Bounds of Sigma1 - Sigma2, step by step."""

    def ends(sign1, sign2, share):
        draws = [
            (one["chain"] - sign1 * one["edit"]) - (other["chain"] - sign2 * other["edit"])
            for one, other in resampled
        ]
        return quantile(draws, share), quantile(draws, 1 - share)

    lows = []
    for sign1 in (1, -1):
        kept = may_be_smaller(resampled, 1)
        lows.append(max(ends(sign1, sign2, tail / len(kept))[0] for sign2 in kept))
    highs = []
    for sign2 in (1, -1):
        kept = may_be_smaller(resampled, 0)
        highs.append(min(ends(sign1, sign2, tail / len(kept))[1] for sign1 in kept))
    return min(lows), max(highs)


def own_contrast(resampled, judge):
    return contrast_interval([each[judge] for each in resampled])


def flips(first, second):
    """Triplet, comparison and whether it is a full reversal, wherever the orders differ."""
    found = []
    for i in range(len(first[0])):
        for name, (x, y) in {"A>D": (0, 2), "B>D": (1, 2), "A>B": (0, 1)}.items():
            one = win(first[x][i], first[y][i])
            other = win(second[x][i], second[y][i])
            if one != other:
                found.append((i, name, abs(one - other) == 1))
    return found


def floor(gained, lost, n, z):
    """Lower bound of a paired difference by the score test, its likelihood maximized by search."""

    def log_likelihood(loss, difference):
        shares = (loss + difference, loss, 1 - 2 * loss - difference)
        total = 0.0
        for count, share in zip((gained, lost, n - gained - lost), shares, strict=True):
            if count > 0:
                if share <= 0:
                    return -math.inf
                total += count * math.log(share)
        return total

    def likeliest_loss(difference):
        low, high = max(0.0, -difference), (1 - difference) / 2
        for _ in range(200):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if log_likelihood(left, difference) < log_likelihood(right, difference):
                low = left
            else:
                high = right
        return (low + high) / 2

    def rejected(difference):
        loss = likeliest_loss(difference)
        variance = n * (2 * loss + difference - difference**2)
        return gained - lost - n * difference > z * math.sqrt(max(variance, 0.0))

    low, high = -1.0, (gained - lost) / n
    for _ in range(100):
        middle = (low + high) / 2
        if rejected(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def holm(p_values):
    adjusted = []
    for p in p_values:
        smaller_or_equal = sorted(q for q in p_values if q <= p)
        m = len(p_values)
        steps = [min(1.0, q * (m - sorted(p_values).index(q))) for q in smaller_or_equal]
        adjusted.append(max(steps))
    return adjusted


def coin_quantile(coins, level):
    """Smallest k with P(|heads - coins/2| <= k) >= level, over all numbers of heads."""
    middle = Fraction(coins, 2)
    for k in sorted({abs(heads - middle) for heads in range(coins + 1)}):
        inside = sum(math.comb(coins, h) for h in range(coins + 1) if abs(h - middle) <= k)
        if Fraction(inside, 2**coins) >= level:
            return k
    raise AssertionError("no quantile")


def disturbance(first, second):
    """Mean squared change of the A > B outcome."""
    n = len(first[0])
    changes = [win(first[0][i], first[1][i]) - win(second[0][i], second[1][i]) for i in range(n)]
    return sum(change**2 for change in changes) / n
