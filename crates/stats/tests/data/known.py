"""Makes the tables beside it: known cases of the tests and intervals, from SciPy and statsmodels.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1 statsmodels==0.14.5
    venv/bin/python known.py

Each row's first two columns are the samples, separated by spaces; what SciPy says of them follows.
"""

import csv
import numpy as np
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20090101)


def words(values):
    return " ".join(repr(float(value)) for value in values)


def write(name, head, rows):
    with open(name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def pairs():
    """Sets of all sizes and kinds: apart and alike, with ties and without."""
    for m, n in [(2, 2), (3, 3), (3, 5), (5, 5), (5, 5), (5, 5), (4, 9), (8, 8), (10, 10), (1, 7)]:
        yield np.round(rng.normal(100, 5, m), 3), np.round(rng.normal(104, 5, n), 3)
    for m, n in [(3, 3), (4, 4), (5, 5), (5, 5), (5, 8), (6, 4), (7, 7)]:
        yield np.round(rng.normal(100, 1.5, m)), np.round(rng.normal(101, 1.5, n))
    yield np.full(5, 100.0), np.full(5, 95.0)
    yield np.array([100.0, 100, 100, 100, 101]), np.array([101.0, 101, 100, 101, 102])
    for m, n in [(30, 30), (25, 40), (21, 20), (60, 35)]:
        yield np.round(rng.normal(100, 5, m), 3), np.round(rng.normal(102, 5, n), 3)
        yield np.round(rng.normal(100, 2, m)), np.round(rng.normal(101, 2, n))


def rank(base, other):
    """Counted over all ways to deal out the values up to 40 of them, by the normal law beyond."""
    if len(base) + len(other) <= 40:
        has_ties = len(set(base) | set(other)) < len(base) + len(other)
        method = stats.PermutationMethod(n_resamples=np.inf) if has_ties else "exact"
    else:
        method = "asymptotic"
    # SciPy's U is that of its first argument.
    found = stats.mannwhitneyu(other, base, alternative="two-sided", method=method)
    return [repr(float(found.statistic)), repr(float(found.pvalue))]


def log_ratio(base, other):
    """Welch's interval of a difference, of samples of mean one and their scatter: to first order that of logarithms."""
    found = stats.ttest_ind(other / other.mean(), base / base.mean(), equal_var=False).confidence_interval(0.95)
    ratio = other.mean() / base.mean()
    return [repr(float(value)) for value in (ratio, ratio * np.exp(found.low), ratio * np.exp(found.high))]


cases = list(pairs())
write("rank.csv", ["base", "other", "u", "p"], [[words(a), words(b), *rank(a, b)] for a, b in cases])
ratios = [(a, b) for a, b in cases if len(a) > 1 and np.std(a) > 0 and np.std(b) > 0]
write("ratio.csv", ["base", "other", "ratio", "low", "high"], [[words(a), words(b), *log_ratio(a, b)] for a, b in ratios])


tables = [rng.uniform(0, 1, n) ** 3 for n in (1, 2, 5, 20)] + [np.array([0.01, 0.04, 0.03, 0.005]), np.full(4, 0.02)]
write("holm.csv", ["p", "adjusted"], [[words(p), words(multipletests(p, method="holm")[1])] for p in tables])


skewed = [np.round(rng.lognormal(4, 0.8, n), 3) for n in (20, 40, 100)]


def bca(sample):
    found = stats.bootstrap((sample,), np.mean, n_resamples=200_000, method="BCa", rng=np.random.default_rng(1), vectorized=True, batch=2000)
    return [repr(float(value)) for value in found.confidence_interval]


write("bootstrap.csv", ["sample", "low", "high"], [[words(s), *bca(s)] for s in skewed])


def fractional(sample, percent):
    """The ends by Hutson's fractional order statistics, solved with SciPy's beta distribution."""
    ranks, share = len(sample) + 1, percent / 100
    place = lambda chance: ranks * optimize.brentq(
        lambda u: stats.beta.cdf(share, ranks * u, ranks * (1 - u)) - chance, 1e-9, 1 - 1e-9, xtol=1e-14)
    at = lambda place: float(np.interp(place, np.arange(1, ranks), np.sort(sample)))
    return [repr(at(place(0.975))), repr(at(place(0.025)))]


cases = [(sample, percent) for sample in skewed for percent in (25, 50, 75)] + [(skewed[-1], 90)]
write("percentile.csv", ["sample", "percent", "low", "high"], [[words(s), p, *fractional(s, p)] for s, p in cases])

samples = [np.round(rng.normal(100, 5, n), 3) for n in (2, 3, 5, 10, 30)]


def student(sample):
    low, high = stats.t.interval(0.95, len(sample) - 1, sample.mean(), stats.sem(sample))
    return [repr(float(sample.mean())), repr(float(high - low) / 2)]


write("student.csv", ["sample", "mean", "half width"], [[words(s), *student(s)] for s in samples])
