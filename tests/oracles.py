"""A second, slow way to every statistic: plain Python and exact fractions, no numpy.

Written from the definitions, apart from the package, which it never imports.
"""

import math
from fractions import Fraction

HALF = Fraction(1, 2)


def win(first, second):
    if first > second:
        return Fraction(1)
    if first == second:
        return HALF
    return Fraction(0)


def auc(firsts, seconds):
    outcomes = [win(x, y) for x, y in zip(firsts, seconds, strict=True)]
    return sum(outcomes) / len(outcomes)


def effects(a, b, d):
    nominal = auc(a, d)
    chain = auc(b, d) - HALF
    edit = auc(a, b) - HALF
    sigma = chain - (edit if edit >= 0 else -edit)
    return {"nominal": nominal, "chain": chain, "edit": edit, "sigma": sigma}


def fourth_cell(a, b, c, d):
    have = [i for i, score in enumerate(c) if not math.isnan(score)]
    a, b, c, d = ([column[i] for i in have] for column in (a, b, c, d))
    return {
        "n": len(have),
        "chain_unedited": auc(a, c) - HALF,
        "edit_broken": auc(c, d) - HALF,
        "interaction": auc(a, c) - auc(b, d),
        "edit_interaction": auc(a, b) - auc(c, d),
        "score_interaction": sum(
            (Fraction(a[i]) - Fraction(c[i])) - (Fraction(b[i]) - Fraction(d[i]))
            for i in range(len(have))
        )
        / len(have),
    }


def tie_count(firsts, seconds):
    return sum(1 for x, y in zip(firsts, seconds, strict=True) if x == y)


def quantile(values, probability):
    """Linear interpolation between order statistics at (m - 1) * probability."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * probability
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    share = place - below
    return float(ordered[below]) * (1 - share) + float(ordered[above]) * share


def members(cluster):
    """Positions of each cluster, clusters in the order of their labels."""
    return [
        [i for i, mark in enumerate(cluster) if mark == label] for label in sorted(set(cluster))
    ]


def bootstrap(a, b, d, picks, cluster=None):
    """Effects of each resample; ``picks`` lists the units drawn, ``cluster`` their members."""
    units = [[i] for i in range(len(a))] if cluster is None else members(cluster)
    found = []
    for drawn in picks:
        rows = [i for unit in drawn for i in units[unit]]
        found.append(effects([a[i] for i in rows], [b[i] for i in rows], [d[i] for i in rows]))
    return found


def kit_interval(resampled, tail=0.025):
    sigmas = [one["sigma"] for one in resampled]
    return quantile(sigmas, tail), quantile(sigmas, 1 - tail)


def contrast_interval(resampled, tail=0.025):
    minus = [one["chain"] - one["edit"] for one in resampled]
    plus = [one["chain"] + one["edit"] for one in resampled]
    low = min(quantile(minus, tail), quantile(plus, tail))
    high = min(quantile(minus, 1 - tail), quantile(plus, 1 - tail))
    return low, high


def contrast_variances(a, b, d):
    """Sample variances of the means CE - EE and CE + EE over n triplets, and covariance."""
    n = len(a)
    minus = [win(b[i], d[i]) - win(a[i], b[i]) for i in range(n)]
    plus = [win(b[i], d[i]) + win(a[i], b[i]) - 1 for i in range(n)]

    def covariance(x, y):
        mean_x, mean_y = sum(x) / n, sum(y) / n
        return sum((p - mean_x) * (q - mean_y) for p, q in zip(x, y, strict=True)) / (n - 1) / n

    return covariance(minus, minus), covariance(plus, plus), covariance(minus, plus)


def wilson(wins, n, z):
    """The two rates at which the score test (rate - p)^2 = z^2 p(1 - p)/n just holds."""
    rate = wins / n

    def inside(p):
        return (rate - p) ** 2 <= z * z * p * (1 - p) / n

    def boundary(inner, outer):
        for _ in range(200):
            middle = (inner + outer) / 2
            if inside(middle):
                inner = middle
            else:
                outer = middle
        return inner

    return boundary(rate, 0.0) if wins > 0 else 0.0, boundary(rate, 1.0) if wins < n else 1.0


def expected_noise(n, ties):
    """E|X - m/2|/n over all outcomes of m = n - ties fair coins."""
    m = n - ties
    weights = [Fraction(math.comb(m, x), 2**m) for x in range(m + 1)]
    return sum(w * abs(x - Fraction(m, 2)) for x, w in enumerate(weights)) / n
