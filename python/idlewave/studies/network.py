"""What a faster or slower network does to programs, with and without noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..machine import Machine
from ..noise_presets import chosen_noises
from ..schedule import Schedule
from .case_study import CaseStudy
from .machine_variants import scaled
from .programs import GENERATED, ProgramSettings, programs_at
from .simulated_case import SEEDS, SimulatedCase, checked_factors, checked_seeds, simulated_row

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

SCALED = ("L+g+G",)
"""What the talk made larger and smaller."""
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class NetworkCase(SimulatedCase):
    """A simulation under `noise` ("": none) on a network whose parameters `scaled`, such as L+g+G, are times
    `factor`."""

    noise: str
    scaled: str
    factor: float


def network_cases(
    machine: Machine,
    programs: Sequence[str | Schedule] = GENERATED,
    ranks: Sequence[int] | None = None,
    settings: ProgramSettings | None = None,
    noise: Sequence[str] | None = None,
    parameters: Sequence[str] = SCALED,
    factors: Sequence[float] = FACTORS,
    seeds: int | Sequence[int] = SEEDS,
) -> list[NetworkCase]:
    """For each program, number of ranks, set of `parameters` and factor a case without noise, and one for each noise
    and seed. The factor 1 is always among them. Raises UsageError."""
    if not parameters or len({*parameters}) != len(parameters):
        raise UsageError(f"expected different sets of parameters such as L+g+G, found {list(parameters)}")
    noises = chosen_noises(noise, machine)
    numbers = checked_seeds(seeds)
    chosen = checked_factors([1.0, *(factor for factor in factors if factor != 1)])
    on = {(names, f): scaled(machine.with_noise(None), names.split("+"), f) for names in parameters for f in chosen}
    noisy = {(word, *key): quiet.with_noise(found) for word, found in noises.items() for key, quiet in on.items()}
    cases = []
    for program in programs_at(programs, ranks, settings, machine):
        for (names, factor), quiet in on.items():
            cases.append(NetworkCase(program, quiet, program.ranks, 0, "", names, factor))
            for word in noises:
                under = noisy[word, names, factor]
                cases += [NetworkCase(program, under, program.ranks, seed, word, names, factor) for seed in numbers]
    return cases


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.network_speed_page import network_speed_page

    return network_speed_page(table)


NETWORK = CaseStudy("network", 1, simulated_row, _page)
"""The study: its table has the columns of `NetworkCase`, and those of `simulated_row`."""
