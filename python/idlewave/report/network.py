"""From PRTT samples to the quantities of LogGOPS, and what the model says they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from idlewave.measure.network import FittedParameters, Network
from idlewave.measure.network.fitting.quantities import QUANTITIES, predictions_ps
from idlewave.report.data import MachineData, NetworkData


def rules_of(machine: MachineData) -> Network:
    """The machine's parameters as the rules take them: segments filled up with what holds below them."""
    values = {name: float(getattr(machine, name)) for name in ("L", "o_s", "o_r", "g", "G", "O")}
    ranges = [(1, FittedParameters(**values))]
    for segment in sorted(machine.segments, key=lambda item: item.from_bytes):
        named = {name: getattr(segment, name) for name in values}
        values |= {name: float(value) for name, value in named.items() if value is not None}
        ranges.append((segment.from_bytes, FittedParameters(**values)))
    return Network(tuple(ranges), machine.S)


def predicted_ns(machine: MachineData, series: str, sizes: Sequence[int]) -> npt.NDArray[np.float64]:
    """What the simulator's rules give for a quantity (one of QUANTITIES) at each of `sizes`, in ns.

    Made as it is measured, from PRTT(1,0,s), PRTT(n,0,s) and PRTT(n,d,s); o_r is o_r + kO. Of a rendezvous no
    receive overhead is seen: not a number.
    """
    network = rules_of(machine)
    return predictions_ps(network, series, [int(size) for size in sizes]) / 1000


def quantities(network: NetworkData) -> pd.DataFrame:
    """series (of QUANTITIES), size, median_ns, low_ns, high_ns, n: as given, else made from the samples.

    half_rtt = PRTT(1,0,s)/2, gap = (PRTT(n,0,s) − PRTT(1,0,s))/(n−1), and
    o_s = (PRTT(n,d,s) − PRTT(1,0,s))/(n−1) − d, with the median of PRTT(1,0,s).
    Hoefler, Lichei, Rehm: Low-Overhead LogGP Parameter Assessment (2007).
    """
    if network.medians is not None:
        return network.medians
    samples = network.samples
    single = samples[samples["series"] == "prtt1"]
    base = samples["size"].map(single.groupby("size")["value_ns"].median())
    per_message = (samples["value_ns"] - base) / (samples["n"] - 1).where(samples["n"] > 1)
    values = {
        "half_rtt": single["value_ns"] / 2,
        "gap": per_message[samples["series"] == "prttn"],
        "o_s": (per_message - samples["delay_ns"])[samples["series"] == "prttd"],
        "o_r": samples.loc[samples["series"] == "o_r", "value_ns"],
    }
    tables = [_summary(series, samples["size"], values[series].dropna()) for series in QUANTITIES]
    return pd.concat(tables, ignore_index=True)


def _summary(series: str, sizes: pd.Series, values: pd.Series) -> pd.DataFrame:
    groups = values.astype(float).groupby(sizes.loc[values.index])
    table = pd.DataFrame(
        {
            "median_ns": groups.median(),
            "low_ns": groups.quantile(0.25),
            "high_ns": groups.quantile(0.75),
            "n": groups.size(),
        }
    )
    table = table.rename_axis("size").reset_index()
    table.insert(0, "series", series)
    return table
