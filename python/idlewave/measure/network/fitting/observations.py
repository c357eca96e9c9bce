"""From raw samples to the input of a fit: the steady repetitions, and per size the four LogGP curves.

A virtual machine changes its speed by a factor of two within seconds (another tenant, a sibling thread). Medians over
such a mixture describe no machine. So the repetitions are compared with each other, and the largest group of similar
speed is used; the number of the others is reported. If it is too small, that is an error, or all are used. Samples
during which a rank lost its core are left out one by one.

Not every repetition has every size: sizes around a protocol change are added later, settled ones are sampled less
often, and an interrupt leaves an incomplete repetition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....errors import MeasurementError

Array = NDArray[np.float64]
Curves = dict[str, Array]

COLUMNS = ("series", "size", "n", "delay_ns", "repetition", "value_ns")
SERIES = ("rtt", "train", "paced", "wait")
ALIKE = 0.2
DOUBT = 2.0
"""Two repetitions are alike if, in each series, their levels differ by less than ALIKE octaves (15 %) plus DOUBT
standard errors, of which at most ALIKE octaves count."""
FEWEST = 5
"""The fewest repetitions that must be alike; and the fewest samples of a size that must remain without disturbed
ones."""
FEWEST_SAMPLES = 3
"""A size with fewer steady samples in one of the four series is left out."""
MAD_TO_DEVIATION = 1.4826
MEDIAN_ERROR = 1.2533
"""For normal samples: standard deviation by median absolute deviation; error of a median by that of a mean."""
FLOOR = 0.02
"""A median counts less in a fit if its relative error is above this."""


@dataclass(frozen=True)
class Observations:
    """The four curves at each size, ps; rows are repetitions, NaN where one has no sample of a size.

    half: PRTT(1,0,s)/2; gap: (PRTT(n,0,s) - PRTT(1,0,s))/(n-1); send: (PRTT(n,d,s) - PRTT(1,0,s))/(n-1) - d; receive:
    the completion of a receive that was posted before its message came (absent if the other rank takes no part). A get
    is a call, the way of its request and the way of its data: half is its time less the request's way, which is half of
    the time of the smallest get beyond the call. raw: by series; paced is without the delays. train, paced: the number
    of their messages by size. left_out: sizes with too few samples. late: see `late_sends`. disturbed: the number of
    the `samples` samples that were left out. steady: the repetitions that ran alike, none where that is ignored;
    counted: those of which the curves are, which are all if too few ran alike.
    """

    sizes: NDArray[np.int64]
    raw: Curves
    steady: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    train: NDArray[np.int64]
    paced: NDArray[np.int64]
    late: pd.DataFrame
    left_out: tuple[int, ...]
    samples: int
    disturbed: int

    @property
    def repetitions(self) -> int:
        """The number of repetitions made or begun."""
        return len(self.steady)

    @property
    def ran_alike(self) -> bool:
        """Whether enough repetitions ran alike."""
        return bool(self.steady.sum() >= FEWEST)

    def medians(self) -> Curves:
        """The median of each curve by size, over the counted repetitions; NaN without any."""
        middle = {name: column_medians(values[self.counted]) for name, values in self.raw.items()}
        return self._curves(middle["rtt"], middle)

    def resampled(self, times: int, random: np.random.Generator) -> Iterator[Curves]:
        """The medians of `times` bootstrap samples: the counted repetitions drawn with replacement."""
        ordered = {name: _Ordered(values[self.counted]) for name, values in self.raw.items()}
        rows = int(self.counted.sum())
        for _ in range(times):
            drawn = np.bincount(random.choice(rows, rows), minlength=rows)
            middle = {name: columns.medians(drawn) for name, columns in ordered.items()}
            yield self._curves(middle["rtt"], middle)

    def curves(self) -> Curves:
        """The curves of each counted repetition; their medians are those of `medians`."""
        chosen = {name: values[self.counted] for name, values in self.raw.items()}
        single = column_medians(chosen["rtt"])
        return self._curves(single, chosen) | {"half": chosen["rtt"] / 2}

    def errors(self) -> Curves:
        """The standard error of each curve's median by size, from the median absolute deviation: samples with a detour
        do not count."""
        error = {name: _median_errors(values[self.counted]) for name, values in self.raw.items()}
        return {
            "half": error["rtt"] / 2,
            "gap": np.hypot(error["train"], error["rtt"]) / (self.train - 1),
            "send": np.hypot(error["paced"], error["rtt"]) / (self.paced - 1),
        } | ({"receive": error["wait"]} if "wait" in error else {})

    def _curves(self, single: Array, values: Curves) -> Curves:
        return {
            "half": single / 2,
            "gap": (values["train"] - single) / (self.train - 1),
            "send": (values["paced"] - single) / (self.paced - 1),
        } | ({"receive": values["wait"]} if "wait" in values else {})


Alike = Literal["demanded", "preferred", "ignored"]
"""Whether repetitions must have run alike to count: where too few did, that is an error, or all count; or all count
anyway."""


def observe(samples: pd.DataFrame, passive: bool = False, alike: Alike = "demanded") -> Observations:
    """The curves of `samples` (columns as in COLUMNS; with `disturbed` if the probe counts context switches).

    `passive`: the server takes no part in an exchange (get), so that none of its calls can be timed (`wait`).
    `alike`: which repetitions count. Raises MeasurementError if there are too few.
    """
    missing = [c for c in COLUMNS if c not in samples.columns]
    if missing:
        raise MeasurementError(f"the network samples lack the columns {', '.join(missing)}")
    series = tuple(s for s in SERIES if s != "wait" or not passive)
    absent = [s for s in series if not (samples["series"] == s).any()]
    if absent:
        raise MeasurementError(f"the network samples hold none of the series {', '.join(absent)}")
    kept = undisturbed(samples)
    repetitions = np.unique(kept.loc[kept["series"].isin(series), "repetition"].to_numpy(dtype=np.int64))
    sizes = _common_sizes(kept, series)
    whole = {s: _grid(kept[kept["series"] == s], repetitions, sizes) for s in series}
    counted = steady = _steady(whole)
    if alike == "ignored":
        steady = np.zeros_like(steady)
    if steady.sum() < FEWEST:
        counted = np.any([np.isfinite(values).any(axis=1) for values in whole.values()], axis=0)
        if alike == "demanded" or counted.sum() < FEWEST:
            raise MeasurementError(
                f"no {FEWEST} of {len(steady)} repetitions of PRTT ran alike (within 15 %): the machine was too busy, "
                "or the time too short"
            )
    paced = kept[kept["series"] == "paced"]
    waited = (paced["n"] - 1) * paced["delay_ns"]
    whole["paced"] = _grid(paced.assign(value_ns=paced["value_ns"] - waited), repetitions, sizes)
    seen = np.all([np.isfinite(v[counted]).sum(axis=0) >= FEWEST_SAMPLES for v in whole.values()], axis=0)
    if not seen.any():
        of_which = " that ran alike" if counted is steady else ""
        raise MeasurementError(f"no message size has {FEWEST_SAMPLES} samples{of_which} in every series")
    raw = {name: values[:, seen] for name, values in whole.items()}
    messages = {s: _messages(kept, s, sizes)[seen] for s in ("train", "paced")}
    if passive:
        single, several = (column_medians(raw[s][counted]) for s in ("rtt", "paced"))
        call = (several[0] - single[0]) / (messages["paced"][0] - 1)
        raw = {name: values + single - single[0] + call for name, values in raw.items()}
    return Observations(
        sizes[seen],
        raw,
        steady,
        counted,
        messages["train"],
        messages["paced"],
        late_sends(kept),
        tuple(sizes[~seen].tolist()),
        len(samples),
        len(samples) - len(kept),
    )


def undisturbed(samples: pd.DataFrame) -> pd.DataFrame:
    """The samples during which no rank lost its core (column `disturbed` is 0, or there is none).

    All samples of a size and series are used if fewer than FEWEST would remain: a message that takes longer than the
    time between two interruptions is never undisturbed.
    """
    if "disturbed" not in samples.columns:
        return samples
    quiet = samples["disturbed"].fillna(0) == 0
    if quiet.all():
        return samples
    left = quiet.groupby([samples["series"], samples["size"]]).transform("sum")
    return samples[quiet | (left < FEWEST)]


def late_sends(samples: pd.DataFrame) -> pd.DataFrame:
    """One row a size of the series `late`: size, value_ps, delay_ps (medians), share = value/delay, n."""
    chosen = samples[(samples["series"] == "late") & (samples["delay_ns"] > 0) & (samples["size"] > 0)]
    share = chosen.assign(share=chosen["value_ns"] / chosen["delay_ns"])
    groups = share.groupby("size", sort=True)[["value_ns", "delay_ns", "share"]]
    table = groups.median().assign(n=groups.size())
    table["value_ps"], table["delay_ps"] = table["value_ns"] * 1000, table["delay_ns"] * 1000
    return table.reset_index()[["size", "value_ps", "delay_ps", "share", "n"]]


def column_medians(values: Array) -> Array:
    """The median of each column without NaN; NaN for a column of NaN."""
    ordered = np.sort(values, axis=0)
    n = np.isfinite(values).sum(axis=0)
    if not len(ordered):
        return np.full(values.shape[1], np.nan)
    column = np.arange(values.shape[1])
    middle: Array = (ordered[np.maximum(n - 1, 0) // 2, column] + ordered[n // 2, column]) / 2
    return middle


class _Ordered:
    """Sorted columns, for medians with rows counted several times, as in many resamples."""

    def __init__(self, values: Array) -> None:
        most = max(int(np.isfinite(values).sum(axis=0).max()), 1)
        self.row = np.argsort(values, axis=0)[:most]
        self.values = np.take_along_axis(values, self.row, axis=0)
        self.there = np.isfinite(self.values)

    def medians(self, times: NDArray[np.int64]) -> Array:
        """As `column_medians`, with each row counted `times` times."""
        upto = np.cumsum(np.where(self.there, times[self.row], 0), axis=0)
        n = upto[-1]
        column = np.arange(self.values.shape[1])
        lower, upper = (upto > np.maximum(n - 1, 0) // 2).argmax(axis=0), (upto > n // 2).argmax(axis=0)
        return np.where(n > 0, (self.values[lower, column] + self.values[upper, column]) / 2, np.nan)


def _median_errors(values: Array) -> Array:
    deviation = column_medians(np.abs(values - column_medians(values))) * MAD_TO_DEVIATION
    n = np.maximum(np.isfinite(values).sum(axis=0), 1)
    return np.asarray(MEDIAN_ERROR * deviation / np.sqrt(n))


def _common_sizes(samples: pd.DataFrame, series: tuple[str, ...]) -> NDArray[np.int64]:
    sizes = set.intersection(*(set(samples.loc[samples["series"] == s, "size"].unique().tolist()) for s in series))
    found = np.array(sorted(s for s in sizes if s >= 1), dtype=np.int64)
    if not len(found):
        raise MeasurementError("no message size was measured in every series")
    return found


def _messages(samples: pd.DataFrame, series: str, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of messages in the trains of each size: one number, because all trains of a size are alike."""
    counts = (
        samples[(samples["series"] == series) & samples["size"].isin(sizes)].groupby("size")["n"].agg(["min", "max"])
    )
    wrong = counts[(counts["min"] != counts["max"]) | (counts["min"] < 2)]
    if len(wrong):
        found = sorted({*wrong["min"], *wrong["max"]})
        raise MeasurementError(
            f"the series {series} needs one number of messages of at least 2 for a size, found {found} "
            f"at {wrong.index[0]} B"
        )
    return np.asarray(counts["min"].to_numpy(dtype=np.int64))


def _grid(samples: pd.DataFrame, repetitions: NDArray[np.int64], sizes: NDArray[np.int64]) -> Array:
    """value_ns by repetition and size, in ps; the median of several values; NaN if there is none."""
    chosen = samples[samples["size"].isin(sizes)]
    if chosen.duplicated(["repetition", "size"]).any():
        chosen = chosen.groupby(["repetition", "size"])["value_ns"].median().reset_index()
    grid = np.full((len(repetitions), len(sizes)), np.nan)
    row = np.searchsorted(repetitions, chosen["repetition"].to_numpy(dtype=np.int64))
    column = np.searchsorted(sizes, chosen["size"].to_numpy(dtype=np.int64))
    grid[row, column] = chosen["value_ns"].to_numpy(dtype=np.float64) * 1000.0
    return grid


def _steady(raw: Curves) -> NDArray[np.bool_]:
    """Which repetitions belong to the group that is alike in every series and has the most samples.

    It is not the group of most repetitions, because those of bisection have one size each. Such a repetition is not the
    centre of a group either: its level is hardly known.
    """
    rows = len(next(iter(raw.values())))
    alike = np.ones((rows, rows), dtype=np.bool_)
    samples = np.zeros(rows, dtype=np.int64)
    for values in raw.values():
        levels, variances = _levels(values)
        doubt = np.minimum(DOUBT * np.sqrt(variances[:, None] + variances[None, :]), ALIKE)
        alike &= ~(np.abs(levels[:, None] - levels[None, :]) >= ALIKE + doubt)  # an unknown level is like any
        samples += np.isfinite(values).sum(axis=1)
    alike &= np.outer(samples > 0, samples > 0)
    group = np.where(2 * samples >= samples.max(), alike @ samples, 0)
    return np.asarray(alike[int(group.argmax())], dtype=np.bool_)


def _levels(values: Array) -> tuple[Array, Array]:
    """How much slower each repetition is than the usual one, in octaves: the median over its sizes; and the square of
    that median's standard error, by the scatter of all.

    Median polish (Tukey, 1977) separates the effects of sizes and repetitions, because not all repetitions have all
    sizes. For the median of a size a repetition counts as often as it has sizes, because its level is known better with
    more.
    """
    octaves = np.log2(np.where(values > 0, values, np.nan))
    there = np.isfinite(octaves)
    sizes = there.sum(axis=1)
    levels = np.zeros(len(values))
    for _ in range(3):
        usual = _Ordered(octaves - levels[:, None]).medians(sizes)
        levels = np.nan_to_num(column_medians((octaves - usual).T))
    off = np.abs(octaves - usual - levels[:, None])[there]
    scatter = MEDIAN_ERROR * MAD_TO_DEVIATION * float(np.median(off)) if len(off) else 0.0
    return np.where(sizes > 0, levels, np.nan), scatter**2 / np.maximum(sizes, 1)
