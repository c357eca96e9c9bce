"""Pandemic flu in a synthetic city."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from ..kernel import EventRun, RunOptions, checked_seed
from .running import MOST_LPS, run_model, whole

if TYPE_CHECKING:
    import pandas as pd

DAY = 86_400
"""Seconds: the kernel's ticks are seconds here."""
NEVER = 2**63 - 1
MOST_DAYS = 36_500


@dataclass(frozen=True)
class EpidemicRun:
    """How many persons were what when each day began; and what the run counted."""

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


def epidemic(
    *,
    persons: int = 100_000,
    districts: int = 1,
    home_contacts: float = 4.0,
    work_contacts: float = 4.5,
    travel_contacts: float = 4.5,
    transmission: float = 0.04,
    latent: float = 1.9,
    infectious: float = 4.1,
    contact: float = 1 / 96,
    first_infectious: int = 10,
    vaccinated: float = 0.0,
    isolated: float = 0.0,
    isolated_after: float = 0.0,
    workplaces_close: float | None = None,
    workplaces_reopen: float | None = None,
    days: int = 180,
    seed: int = 1,
    **options: Unpack[RunOptions],
) -> EpidemicRun:
    """An epidemic of `persons` that live and work with others in a city of `districts`, which only travel connects.

    A person has so many contacts a day at home, at work and with anybody, each of which infects with probability
    `transmission`. It is infectious after a `latent` time, and recovers after an `infectious` one (means, days). A
    contact lasts `contact` days: the lookahead. Against it: a share `vaccinated` at the beginning; a share `isolated`
    of the infectious, `isolated_after` days; workplaces that close on one day and reopen on another (None: never).
    `options`: the run configuration, as `kernel.RunConfiguration` says.

    Raises UsageError or InputError for what makes no sense, MpiError if processes cannot be started or one dies.
    """

    def in_seconds(what: str, value: float | None, least: float = 0.0) -> int:
        return NEVER if value is None else whole(what, value, MOST_DAYS, 1 / DAY, least)

    end = in_seconds("days", days)
    parameters = {
        "persons": whole("persons", persons, MOST_LPS, least=1),
        "districts": whole("districts", districts, MOST_LPS, least=1),
        "home_contacts": home_contacts,
        "work_contacts": work_contacts,
        "travel_contacts": travel_contacts,
        "transmission": transmission,
        "latent": in_seconds("a mean latent time", latent),
        "infectious": in_seconds("a mean infectious time", infectious, 1 / DAY),
        "contact": in_seconds("a contact", contact, 1 / DAY),
        "first_infectious": whole("persons infectious at first", first_infectious, MOST_LPS),
        "vaccinated": vaccinated,
        "isolated": isolated,
        "isolated_after": in_seconds("days until isolation", isolated_after),
        "workplaces_close": in_seconds("the day on which workplaces close", workplaces_close),
        "workplaces_reopen": in_seconds("the day on which workplaces reopen", workplaces_reopen),
        "end": end,
        "seed": checked_seed(seed),
    }
    answer = run_model("epidemic", parameters, options, end)
    return EpidemicRun(**answer["days"], run=EventRun(**answer["run"]))
