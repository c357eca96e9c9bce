"""What was published on noise at scale, beside the rows of the study."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from idlewave.formatting import count_text, percent_text
from idlewave.report.study_rows import row_objects

HARDLY = 0.05
"""A slowdown by less is "nearly no propagation"."""
SEVERE = 1.0
MOST_OF = 0.5
LINEAR = 0.9
"""The least coefficient of determination of a loss that grows linearly."""
BECKMAN = "Beckman et al., allreduce on 32k processes, 1000 Hz of 200 µs"
FERREIRA = "Ferreira et al., allreduce, 10 Hz of 2.5 ms"
Statement = tuple[str, str, str, str]
"""The statement, the published number, what is here, and whether it holds: "yes", "no", or "–" where that is not a
question of yes or no."""


def beside_published(rows: pd.DataFrame) -> list[Statement]:
    """The statements that rows can be found for (T. Hoefler, RWTH Aachen, 14 April 2011)."""
    scale, injected = rows[rows["asks"] == "scale"], rows[rows["asks"] == "published"]
    small = scale[(scale["program"] == "dissemination") & (scale["bytes"] == 1)]
    found = list(_systems(small)) if len(small) else []
    return [*found, *_linear(injected), *_factors(injected)]


def _systems(small: pd.DataFrame) -> Iterator[Statement]:
    """What the talk says of four systems, by the largest dissemination of a byte."""
    most = int(small["ranks"].max())
    by = {row.noise: row for row in row_objects(small[small["ranks"] == most])}
    where = f", {count_text(most)} ranks"

    def of(name: str) -> str:
        return f"{name} {percent_text(by[name].slowdown)}"

    def one(name: str, statement: str, published: str, holds: Callable[[Any], bool]) -> Iterator[Statement]:
        if name in by:
            yield statement, published, of(name) + where, _answer(holds(by[name]))

    yield from one("zeptoos", "ZeptoOS shows nearly no propagation", "0.08 % of the time", lambda r: r.high < HARDLY)
    yield from one("jaguar", "Jaguar is impacted severely", "0.02 % of the time", lambda r: r.low >= SEVERE)
    if "jaguar" in by and "zeptoos" in by:
        less, more = by["jaguar"], by["zeptoos"]
        holds = less.overhead < more.overhead and less.low > more.high
        yield "shape decides, not intensity", "", f"{of('jaguar')}, {of('zeptoos')}{where}", _answer(holds)
    if "altix" in by and "altix:same" in by:
        holds = by["altix:same"].lost_ps < MOST_OF * by["altix"].lost_ps
        said = f"{of('altix:same')} instead of {percent_text(by['altix'].slowdown)}{where}"
        yield "co-scheduling takes most of the Altix's damage away", "", said, _answer(holds)


def _linear(injected: pd.DataFrame) -> Iterator[Statement]:
    """Whether the loss grows linearly with the length of the detours, for each frequency."""
    regular = injected.assign(
        hertz=[str(noise).partition("Hz:")[0] for noise in injected["noise"]],
        us=[_microseconds(str(noise).partition("Hz:")[2]) for noise in injected["noise"]],
    )
    for (program, hertz), own in regular[regular["us"] > 0].groupby(["program", "hertz"], sort=False):
        if len(own) < 3:
            continue
        fit = float(np.corrcoef(own["us"], own["lost_ps"])[0, 1] ** 2)
        said = f"{_named(str(program))}: R² = {fit:.2f}"
        yield f"Beckman et al.: growth with the noise is linear, {hertz} Hz", "", said, _answer(fit >= LINEAR)


def _microseconds(length: str) -> float:
    """The number in a length such as 16us; 0 for one in another unit."""
    return float(length.removesuffix("us")) if length.endswith("us") else 0.0


def _factors(injected: pd.DataFrame) -> Iterator[Statement]:
    for noise, statement, measured, simulated in (
        ("1000Hz:200us", BECKMAN, 16, 13),
        ("10Hz:2.5ms", FERREIRA, 32, 30),
    ):
        own = injected[injected["noise"] == noise]
        for row in row_objects(own):
            said = f"{_named(str(row.program))}, {count_text(row.ranks)} ranks: {1 + row.slowdown:.0f} times as long"
            yield statement, f"measured {measured}, simulated {simulated} times as long", said, "–"


def _named(program: str) -> str:
    return program.partition("=")[2].replace("_", " ") or program


def _answer(holds: bool) -> str:
    return "yes" if holds else "no"
