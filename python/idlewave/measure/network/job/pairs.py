"""The paths between the ranks of a job: a short LogGP assessment of each pair, and the network's levels.

By PRTT(n,d,s), s₁ the smallest and s₂ the largest size measured (T. Hoefler, A. Lichei, W. Rehm: Low-Overhead LogGP
Parameter Assessment for Modern Interconnection Networks, 2007), all of medians:

    latency = PRTT(1,0,s₁)/2                  gap(s) = (PRTT(n,0,s) − PRTT(1,0,s))/(n − 1)
    o       = (PRTT(n,d,s₁) − PRTT(1,0,s₁))/(n − 1) − d
    g       = gap(s₁)                         G      = (gap(s₂) − gap(s₁))/(s₂ − s₁)
    L       = latency − 2o

o is the sender's, and counts for the receiver, too: a pair gets a short assessment. `measure network` assesses one pair
thoroughly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import Progress

from .... import machine as machines
from ....errors import InputError, MeasurementError
from ....escaping import name_of, quote
from ....formatting import percent_text
from ....input.bounds import MOST_TABLE
from ....input.files import below, read_bytes
from ....input.tables import NUMBER, TEXT, WHOLE, Column, csv_table
from ....input.value_types import LONGEST_NS
from ....measurement_parameters import PairsParameters
from ....mpi import Mpi
from ....parameters import takes
from ...environment_file import read_environment
from ..files.file_schemas import PairsSchema
from ..files.network_recording import MOST_MESSAGES
from ..fitting.loggp import median_interval
from ..probing.job_run import JobProbe, keep_samples, read_summary, recorded
from .latency_levels import LatencyLevel, Structure, find_structure, listed

Array = NDArray[np.float64]

SAMPLES = {
    "a": Column("whole", 0, 2**31),
    "b": Column("whole", 0, 2**31),
    "size": Column("whole", 0, 2**50),
    "series": TEXT,
    "n": Column("whole", 0, MOST_MESSAGES),
    "visit": WHOLE,
    "delay_ns": Column("number", -LONGEST_NS, LONGEST_NS),
    "value_ns": Column("number", -LONGEST_NS, LONGEST_NS),
    "start_ns": NUMBER,
    "disturbed": WHOLE,
}
"""The columns of pairs.csv."""
MOST_RANKS = 8192
"""More ranks are refused: several matrices of that size do not fit into the memory of a usual machine."""
DISTURBED = 0.5
"""A larger share of disturbed samples is noted."""


@dataclass(frozen=True)
class PairMeasurement:
    """A measurement of pairs.

    samples: one row a sample, a the client, b the server: size in bytes, series (rtt, train, paced), n, visit,
    delay_ns, value_ns, start_ns (since the beginning, on a's clock), disturbed (involuntary context switches of both
    during the sample). pairs: one row a pair, see `summarise`. probe: the probe's summary of its run.
    """

    samples: pd.DataFrame
    pairs: pd.DataFrame
    structure: Structure
    probe: dict[str, Any]
    environment: dict[str, Any] | None = None

    @property
    def hosts(self) -> list[str]:
        """The host of each rank."""
        return [str(place["host"]) for place in self.probe["ranks"]]

    @cached_property
    def matrix(self) -> Array:
        """Half the round trip of the smallest size between every two ranks, ns; NaN if it was not measured."""
        return matrix_of(self.pairs, len(self.hosts), "latency_ns")

    @cached_property
    def levels(self) -> pd.DataFrame:
        """One row a level, from the innermost: see `level_table`."""
        return level_table(self.pairs, self.structure)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the reliability of the results."""
        notes = list(self.structure.notes)
        planned, done = int(self.probe.get("pairs", 0)), len(self.pairs)
        if done < planned:
            notes.append(
                f"Of {planned} pairs {done} were visited before the time was over: more seconds, or fewer pairs."
            )
        if self.probe.get("interrupted"):
            notes.append("The measurement was interrupted; this is what it had.")
        disturbed = float((self.samples["disturbed"] > 0).mean())
        if disturbed > DISTURBED:
            notes.append(
                f"During {percent_text(disturbed)} of the samples another process (or a rank that shares the core) "
                "ran meanwhile."
            )
        limited = int((self.pairs["L_ns"] < 0).sum())
        if limited:
            notes.append(
                f"L comes out negative for {limited} pairs: their send call goes on after the message has left. "
                "For a machine, o is limited to half the latency."
            )
        return tuple(notes)


@takes(PairsParameters)
def measure_pairs(
    ranks: int,
    mpi: Mpi | None = None,
    *,
    progress: Progress | None = None,
    folder: Path | None = None,
    **given: Unpack[PairsParameters],
) -> PairMeasurement:
    """Measure the paths between the ranks of a job of `ranks` ranks.

    `folder` gets the samples as they are taken. Raises MeasurementError.
    """
    options = ["--visits", str(given["visits"]), "--seed", str(given["seed"])]
    options += ["--pairs", str(given["pairs"])] if given["pairs"] is not None else []
    options += ["--concurrent"] if given["concurrent"] else ["--serial"]
    with recorded(JobProbe("pairs", ranks, mpi, given["seconds"]), options, folder, progress) as place:
        found = read_pairs(place)
        keep_samples(folder, "pairs", found.samples, found.environment)
        return found


def read_pairs(folder: str | Path) -> PairMeasurement:
    """The pairs from a recording of idlewave-pairs. Raises InputError naming the file, MeasurementError if no pair was
    measured.
    """
    place = Path(folder)
    said = read_summary(place, "pairs", PairsSchema)
    samples = _read_samples(below(place, said["file"], f"{name_of(place / 'pairs.json')}: file"))
    if not len(samples):
        raise MeasurementError(f"{name_of(place)}: no pair was measured; the time was too short")
    ranks = len(said["ranks"])
    if ranks > MOST_RANKS:
        raise InputError(f"{name_of(place)}: levels are looked for among at most {MOST_RANKS} ranks, found {ranks}")
    if int(samples[["a", "b"]].to_numpy().max()) >= ranks or int(samples[["a", "b"]].to_numpy().min()) < 0:
        raise InputError(f"{name_of(place)}: there are samples of ranks beyond the {ranks} that ran")
    pairs = summarise(samples)
    if not len(pairs):
        raise MeasurementError(
            f"{name_of(place)}: of no pair a round trip of the smallest size was measured; the time was too short"
        )
    hosts = [str(rank["host"]) for rank in said["ranks"]]
    latency, low = (matrix_of(pairs, ranks, name) for name in ("latency_ns", "low_ns"))
    return PairMeasurement(samples, pairs, find_structure(latency, hosts, low), said, read_environment(place))


def _read_samples(file: Path) -> pd.DataFrame:
    """The content of the file, without a line that an interrupt cut off."""
    what = "samples of pairs"
    data = read_bytes(file, what, most=MOST_TABLE)
    return csv_table(data[: data.rfind(b"\n") + 1], SAMPLES, name_of(file), what)


def summarise(samples: pd.DataFrame) -> pd.DataFrame:
    """One row a pair: a < b, latency_ns with its 95 % interval (low_ns, high_ns, by order statistics) and n, the
    difference of visits (visits_apart: largest by smallest median), o_ns, g_ns, L_ns, G_ns (per byte).

    An unknown value (a series of the pair is missing) is NaN; a pair without round trips has no row.
    """
    first, last = int(samples["size"].min()), int(samples["size"].max())
    ends = samples[["a", "b"]].to_numpy()
    table = samples.assign(a=ends.min(axis=1), b=ends.max(axis=1))
    medians = table.groupby(["a", "b", "series", "size"])["value_ns"].median().unstack(["series", "size"])

    def median(series: str, size: int) -> pd.Series[float]:
        if (series, size) in medians.columns:
            return medians[(series, size)]
        return pd.Series(np.nan, index=medians.index)

    gap_first = (median("train", first) - median("rtt", first)) / (_messages(table, "train") - 1)
    gap_last = (median("train", last) - median("rtt", last)) / (_messages(table, "train") - 1)
    delays = table[table["series"] == "paced"].groupby(["a", "b"])[["value_ns", "delay_ns"]]
    found = pd.DataFrame({"latency_ns": median("rtt", first) / 2})
    trips = table[(table["series"] == "rtt") & (table["size"] == first)]
    spread = {
        pair: median_interval(values.to_numpy() / 2)[1:] for pair, values in trips.groupby(["a", "b"])["value_ns"]
    }
    for i, name in enumerate(("low_ns", "high_ns", "n")):
        found[name] = pd.Series({pair: values[i] for pair, values in spread.items()}, dtype="float64")
    visits = trips.groupby(["a", "b", "visit"])["value_ns"].median().groupby(level=["a", "b"])
    found["visits_apart"] = visits.max() / visits.min()
    found["o_ns"] = _overhead(delays, median("rtt", first), _messages(table, "paced"))
    found["g_ns"] = gap_first
    found["G_ns"] = (gap_last - gap_first) / (last - first) if last > first else np.nan
    found["L_ns"] = found["latency_ns"] - 2 * found["o_ns"]
    found = found[np.isfinite(found["latency_ns"]) & (found["latency_ns"] > 0)].reset_index()
    result: pd.DataFrame = found.astype({"n": "int64"})
    return result


def _overhead(paced: Any, round_trip: pd.Series[float], messages: int) -> pd.Series[float]:  # noqa: ANN401 - a groupby
    """The median over samples, because the real delay of each differs."""
    values = {
        pair: float(np.median((of["value_ns"] - round_trip[pair]) / (messages - 1) - of["delay_ns"]))
        for pair, of in paced
    }
    return pd.Series(values, dtype="float64").reindex(round_trip.index)


def _messages(table: pd.DataFrame, series: str) -> int:
    counts = table.loc[table["series"] == series, "n"].unique()
    if len(counts) > 1 or (len(counts) == 1 and counts[0] < 2):
        raise InputError(f"the series {series} needs one number of messages of at least 2, found {counts.tolist()}")
    return int(counts[0]) if len(counts) else 2


def matrix_of(pairs: pd.DataFrame, ranks: int, column: str) -> Array:
    """A column of `pairs` as a symmetric matrix; NaN if there is no pair."""
    matrix = np.full((ranks, ranks), np.nan)
    a, b = pairs["a"].to_numpy(), pairs["b"].to_numpy()
    matrix[a, b] = matrix[b, a] = pairs[column].to_numpy()
    return matrix


def level_table(pairs: pd.DataFrame, structure: Structure) -> pd.DataFrame:
    """One row a level, from the innermost: level (name), groups, pairs (measured), and for latency_ns, L_ns, o_ns, g_ns
    and G_ns (per byte) the median over its pairs, with quartiles as `…_25` and `…_75`.
    """
    rows = []
    for level in structure.levels:
        chosen = pairs[_pairs_on(pairs, level)]
        row: dict[str, Any] = {"level": level.name, "groups": len(level.groups), "pairs": len(chosen)}
        for name in ("latency_ns", "L_ns", "o_ns", "g_ns", "G_ns"):
            quartiles = chosen[name].quantile([0.25, 0.5, 0.75]).to_numpy()
            row |= {name: quartiles[1], f"{name}_25": quartiles[0], f"{name}_75": quartiles[2]}
        rows.append(row)
    return pd.DataFrame(rows)


def _pairs_on(pairs: pd.DataFrame, level: LatencyLevel) -> NDArray[np.bool_]:
    return np.asarray(level.pairs[pairs["a"].to_numpy(), pairs["b"].to_numpy()], dtype=np.bool_)


def machine_of(found: PairMeasurement, name: str = "pairs") -> machines.Machine:
    """A machine for simulations: the network's parameters, and those within a node if there are two levels or more.

    The node is the level whose groups are the hosts, else the innermost one; its ranks must be blocks of one size in
    order, as the simulator places them. Of several levels beyond the node, the outermost counts. O is not measured, and
    0; every message is eager. Raises MeasurementError, with the reason, if the levels are no such machine.
    """
    levels, table = found.structure.levels, found.levels
    outer = _parameters(table.iloc[-1])
    if len(levels) == 1:
        return _one_level(found, name, machines.Level(outer))
    inner = next((i for i, level in enumerate(levels[:-1]) if level.name == "node"), 0)
    size = len(levels[inner].groups[0])
    ranks = [rank for group in levels[inner].groups for rank in group]
    if ranks != list(range(len(found.hosts))) or any(len(group) != size for group in levels[inner].groups):
        sizes = sorted({len(group) for group in levels[inner].groups})
        raise MeasurementError(
            "the innermost groups are no blocks of as many ranks each, in order, as a machine's nodes must be: they "
            f"have {listed(sizes)} ranks, the first is rank {listed(list(levels[inner].groups[0]))}"
        )
    return machines.Machine(
        name,
        machines.Level(outer),
        machines.Level(_parameters(table.iloc[inner])),
        size,
        measured=machines.BETWEEN if len(set(found.hosts)) > 1 else None,
    )


def _one_level(found: PairMeasurement, name: str, network: machines.Level) -> machines.Machine:
    """A machine with one level: all ranks are on one host, or each is on a host of its own, or hosts show no level."""
    hosts = set(found.hosts)
    cores = (found.environment or {}).get("cores")
    if len(hosts) == len(found.hosts):
        return machines.Machine(name, network, measured=machines.BETWEEN)
    if len(hosts) == 1 and isinstance(cores, int) and cores > 0:
        return machines.Machine(name, network, node_ranks=cores, measured=machines.WITHIN)
    return machines.Machine(name, network)


def _parameters(row: pd.Series[Any]) -> machines.Parameters:
    latency, o, g, per_byte = (float(row[c]) for c in ("latency_ns", "o_ns", "g_ns", "G_ns"))
    if not all(np.isfinite([latency, o, g, per_byte])):
        raise MeasurementError(f"of the level {quote(row['level'])} not all parameters were measured")
    o = min(max(o, 0.0), latency / 2)
    return machines.Parameters(
        L=round(1000 * (latency - 2 * o)),
        o_s=round(1000 * o),
        o_r=round(1000 * o),
        g=round(1000 * max(g, 0.0)),
        G=1000 * max(per_byte, 0.0),
    )
