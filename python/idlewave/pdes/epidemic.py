"""Pandemic flu in a synthetic city."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

from .. import _core
from ..event_run import EventRun
from ..kernel import RunOptions
from ..parameters import Parameter, takes, ticks
from .running import MOST_LPS, SEED, ModelRun, Progress, run_model

if TYPE_CHECKING:
    import pandas as pd

DAY = 86_400
"""A day in seconds, which are the ticks of the kernel here."""
MOST_DAYS = 36_500
MOST_CONTACTS = 1e6


@dataclass(frozen=True)
class EpidemicRun:
    """The number of persons in each state when each day begins, and the statistics of the run."""

    susceptible: list[int]
    exposed: list[int]
    infectious: list[int]
    recovered: list[int]
    immune: list[int]
    run: EventRun

    @property
    def peak(self) -> int:
        """The day on which the most persons are infectious."""
        return max(range(len(self.infectious)), key=self.infectious.__getitem__)

    @property
    def attack_rate(self) -> float:
        """The share of all persons that have been infected by the last day."""
        last = self.exposed[-1] + self.infectious[-1] + self.recovered[-1]
        return last / (last + self.susceptible[-1] + self.immune[-1])

    def to_pandas(self) -> pd.DataFrame:
        """A row a day."""
        import pandas as pd

        return pd.DataFrame(
            {
                "day": range(len(self.susceptible)),
                "susceptible": self.susceptible,
                "exposed": self.exposed,
                "infectious": self.infectious,
                "recovered": self.recovered,
                "immune": self.immune,
            }
        )


def _time(default: float | None, text: str, least: float = 0.0, default_text: str = "") -> Parameter:
    return Parameter(
        default, text, "days", least=least, most=MOST_DAYS, default_text=default_text, to_core=ticks(1 / DAY)
    )


class EpidemicParameters(TypedDict, total=False):
    """The parameters of an epidemic; the core's structs are in core/models/epidemic.hpp and epidemic_city.hpp."""

    persons: Annotated[int, Parameter(100_000, "Number of persons", least=1, most=MOST_LPS)]
    districts: Annotated[int, Parameter(1, "Number of districts, which only travel connects", least=1, most=MOST_LPS)]
    home_contacts: Annotated[float, Parameter(4.0, "Contacts of a person at home, a day", least=0, most=MOST_CONTACTS)]
    work_contacts: Annotated[float, Parameter(4.5, "Contacts of a person at work, a day", least=0, most=MOST_CONTACTS)]
    travel_contacts: Annotated[
        float, Parameter(4.5, "Contacts of a person with anybody, a day", least=0, most=MOST_CONTACTS)
    ]
    transmission: Annotated[float, Parameter(0.04, "Probability that a contact infects", least=0, most=1)]
    latent: Annotated[float, _time(1.9, "Mean time from exposed to infectious")]
    infectious: Annotated[float, _time(4.1, "Mean time from infectious to recovered", 1 / DAY)]
    contact: Annotated[float, _time(1 / 96, "Length of a contact, which is the lookahead", 1 / DAY, "1/96")]
    first_infectious: Annotated[int, Parameter(10, "Persons infectious at first", least=0, most=MOST_LPS)]
    vaccinated: Annotated[float, Parameter(0.0, "Share of persons immune from the beginning", least=0, most=1)]
    isolated: Annotated[float, Parameter(0.0, "Share of the infectious who isolate themselves", least=0, most=1)]
    isolated_after: Annotated[float, _time(0.0, "Time from infectious to isolated")]
    workplaces_close: Annotated[float | None, _time(None, "Time when workplaces close", default_text="never")]
    workplaces_reopen: Annotated[float | None, _time(None, "Time when workplaces reopen", default_text="never")]
    days: Annotated[
        int, Parameter(180, "Length of the run", "days", least=0, most=MOST_DAYS, field="end", to_core=ticks(1 / DAY))
    ]
    seed: Annotated[int, SEED]


class EpidemicOptions(EpidemicParameters, RunOptions, total=False):
    """The parameters of an epidemic and the run configuration."""


@takes(EpidemicOptions)
def epidemic(*, progress: Progress = None, **given: Unpack[EpidemicOptions]) -> EpidemicRun:
    """An epidemic among persons who live and work with others in a city.

    Raises UsageError for values out of range, InputError for values that do not fit together, MpiError if processes
    cannot be started or one of them dies.
    """
    return run_model("epidemic", _run, EpidemicParameters, given, given["days"] * DAY, progress)


def _run(run: ModelRun, progress: object | None, transport: _core.Transport | None) -> EpidemicRun:
    parameters = _core.EpidemicParameters()
    of_core = run.core(parameters, parameters.city, parameters.interventions)
    found = _core.epidemic(*of_core, progress, transport)
    days = found.days
    return EpidemicRun(
        susceptible=[day.susceptible for day in days],
        exposed=[day.exposed for day in days],
        infectious=[day.infectious for day in days],
        recovered=[day.recovered for day in days],
        immune=[day.immune for day in days],
        run=EventRun.of(found.run),
    )
