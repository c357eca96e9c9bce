"""What was published on noise at scale, beside the rows of the study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from idlewave.formatting import count_text, percent_range, percent_text, time_text
from idlewave.report.study_rows import row_objects
from idlewave.studies.seed_statistics import LEAST_SEEDS
from idlewave.units import parse_time

HARDLY = 0.05
"""A slowdown by less is "nearly no propagation"."""
SEVERE = 1.0
BOTTLENECK = 1.0
"""The slowdown from which on noise takes more time than all else."""
MOST_OF = 0.5
LEAST_RANKS = 4096
"""Of fewer, no statement on a system of thousands of cores is said to hold or not to hold."""
LEAST_LENGTHS = 3
LINEAR = 0.9
"""The least coefficient of determination of a loss that grows linearly."""
BECKMAN = "Beckman et al., allreduce on 32k processes, 1000 Hz of 200 µs (assumed)"
FERREIRA = "Ferreira et al., allreduce, 10 Hz of 2.5 ms"
Statement = tuple[str, str, str, str]
"""The statement, the published number, what is here, and whether it holds: "yes", "no", or "–" where the
interval does not say, or that is not a question of yes or no."""


def beside_published(rows: pd.DataFrame) -> list[Statement]:
    """The statements that rows can be found for (T. Hoefler, RWTH Aachen, 14 April 2011)."""
    scale, injected = rows[rows["asks"] == "scale"], rows[rows["asks"] == "published"]
    small = scale[(scale["program"] == "dissemination") & (scale["bytes"] == 1)]
    found = list(_systems(small)) if len(small) else []
    found += [*_networks(rows[rows["asks"] == "network"]), *_ocean(scale)]
    return [*found, *_linear(injected), *_factors(injected)]


def _systems(small: pd.DataFrame) -> Iterator[Statement]:
    """What the talk says of four systems, by the largest dissemination of a byte."""
    most = int(small["ranks"].max())
    by = {row.noise: row for row in row_objects(small[small["ranks"] == most])}
    few = most < LEAST_RANKS
    where = f", {count_text(most)} ranks"

    def of(name: str) -> str:
        return f"{name} {_mean(by[name])}"

    def answer(holds: str, *names: str) -> str:
        return "–" if few else _of_seeds(holds, *(by[name] for name in names))

    if "zeptoos" in by:
        holds = answer(_below(by["zeptoos"], HARDLY), "zeptoos")
        yield "ZeptoOS shows nearly no propagation", "0.08 % of the time", of("zeptoos") + where, holds
    if "jaguar" in by:
        holds = answer(_above(by["jaguar"], SEVERE), "jaguar")
        yield "Jaguar is impacted severely", "0.02 % of the time", of("jaguar") + where, holds
    if "jaguar" in by and "zeptoos" in by:
        less, more = by["jaguar"], by["zeptoos"]
        holds = answer(_apart(more, less), "jaguar", "zeptoos") if less.overhead < more.overhead else "–"
        yield "shape decides, not intensity", "", f"{of('jaguar')}, {of('zeptoos')}{where}", holds
    if "altix" in by and "altix:same" in by:
        holds = answer(_apart(by["altix:same"], by["altix"], MOST_OF), "altix", "altix:same")
        said = f"{of('altix:same')} instead of {_mean(by['altix'])}{where}"
        yield "co-scheduling takes most of the Altix's damage away", "", said, holds


def _networks(rows: pd.DataFrame) -> Iterator[Statement]:
    """Whether noise takes more time than all else on the network as it is, ten times as slow and ten times as fast.

    "–" where that is shown of none of the three: there is no bottleneck that could move.
    """
    for noise, own in rows.groupby("noise", sort=False):
        by = {row.network: row for row in row_objects(own)}
        if not {0.1, 1.0, 10.0} <= {*by}:
            continue
        three = [by[speed] for speed in (0.1, 1.0, 10.0)]
        losses = ", ".join(f"{time_text(row.lost_ps)} ({percent_range(row.low, row.high)})" for row in three)
        said = f"{noise}: {losses} lost, {count_text(three[0].ranks)} ranks"
        answers = {_above(row, BOTTLENECK) for row in three}
        holds = "yes" if answers == {"yes"} else "no" if {"yes", "no"} <= answers else "–"
        few = three[0].ranks < LEAST_RANKS
        statement = "networks 0.1, 1 and 10 times as fast: the noise bottleneck does not move"
        yield statement, "", said, "–" if few else _of_seeds(holds, *three)


def _ocean(scale: pd.DataFrame) -> Iterator[Statement]:
    """An ocean model whose collectives dominate, beside the program here that has the most of them."""
    own = scale[(scale["program"] == "solver") & (scale["noise"] == "jaguar")]
    if len(own):
        row = row_objects(own.sort_values("ranks"))[-1]
        said = (
            f"solver, {count_text(row.ranks)} ranks: {1 + row.slowdown:.1f} ({1 + row.low:.1f} to {1 + row.high:.1f})"
        )
        yield "POP on Jaguar, collectives dominate: times as long", "more than 2", said, "–"


def _linear(injected: pd.DataFrame) -> Iterator[Statement]:
    """Whether the loss grows linearly with the length of the detours, for each frequency and all algorithms."""
    regular = regular_rows(injected[injected["ranks"] == injected["ranks"].max()])
    for hertz, rows in regular.groupby("hertz", sort=False):
        fits = [
            float(np.corrcoef(own["us"], own["lost_ps"])[0, 1] ** 2)
            for _, own in rows.groupby("program", sort=False)
            if len(own) >= LEAST_LENGTHS
        ]
        if fits:
            statement = f"Beckman et al.: growth with the noise is linear, {hertz:g} Hz"
            holds = "yes" if min(fits) >= LINEAR else "no"
            said = f"R² = {', '.join(f'{fit:.2f}' for fit in fits)}"
            yield statement, "", said, _of_seeds(holds, *row_objects(rows))


def regular_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with regular noise, with its frequency, hertz, and length, us."""
    found = [_regular(str(noise)) for noise in rows["noise"]]
    known = rows.assign(hertz=[hertz for hertz, _ in found], us=[length for _, length in found])
    return known[known["us"] > 0]


def _regular(noise: str) -> tuple[float, float]:
    """Frequency, Hz, and length, µs, of a noise such as 1000Hz:100us; 0 of another one."""
    hertz, _, length = noise.partition("Hz:")
    if not length or length.endswith(":same"):
        return 0.0, 0.0
    return float(hertz), parse_time(length) / 1e6


def _factors(injected: pd.DataFrame) -> Iterator[Statement]:
    for noise, statement, measured, simulated in (
        ("1000Hz:200us", BECKMAN, 16, 13),
        ("10Hz:2.5ms", FERREIRA, 32, 30),
    ):
        rows = row_objects(injected[injected["noise"] == noise])
        said = [
            f"{1 + row.slowdown:.0f} ({1 + row.low:.0f} to {1 + row.high:.0f}; {_named(str(row.program))})"
            for row in rows
        ]
        if said:
            where = f"{count_text(rows[0].ranks)} ranks: {', '.join(said)}"
            yield f"{statement}: times as long", f"{measured} measured, {simulated} simulated", where, "–"


def _named(program: str) -> str:
    return program.partition("=")[2].replace("_", " ") or program


def _above(row: Any, slowdown: float) -> str:  # noqa: ANN401 - of pandas
    """Whether the mean slowdown is at least that; "–" if its interval is on both sides."""
    return "yes" if row.low >= slowdown else "no" if row.high < slowdown else "–"


def _below(row: Any, slowdown: float) -> str:  # noqa: ANN401 - of pandas
    return {"yes": "no", "no": "yes"}.get(_above(row, slowdown), "–")


def _apart(less: Any, more: Any, share: float = 1.0) -> str:  # noqa: ANN401 - of pandas
    """Whether one slowdown is below that share of the other: "–" if their intervals overlap."""
    return "yes" if less.high < share * more.low else "no" if less.low > share * more.high else "–"


def _of_seeds(holds: str, *rows: Any) -> str:  # noqa: ANN401 - of pandas
    """The answer, "–" if it rests on too few seeds."""
    return holds if min(row.seeds for row in rows) >= LEAST_SEEDS else "–"


def _mean(row: Any) -> str:  # noqa: ANN401 - of pandas
    return f"{percent_text(row.slowdown)} ({percent_range(row.low, row.high)})"
