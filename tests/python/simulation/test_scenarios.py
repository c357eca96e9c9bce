"""Every file of tests/scenarios is a promise that the simulator, and the test's own oracle, must keep."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import idlewave
import loggops_rules
import loggopsim_rules
import pytest
from idlewave.units import parse_time
from loggops_rules import read_goal
from places import ROOT

Times = dict[tuple[int, str], tuple[int, int]]


@dataclass(frozen=True)
class Scenario:
    """A machine, a schedule, and what must come out. Times in ps."""

    name: str
    promise: str
    machine: idlewave.Machine
    schedule: str
    expect: dict[str, Any]
    dialect: str = "loggops"

    @classmethod
    def load(cls, path: Path) -> Scenario:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        machine = idlewave.Machine.from_toml(table["machine"], name=str(path))
        return cls(
            path.stem, table["promise"], machine, table["schedule"], table["expect"], table.get("dialect", "loggops")
        )

    @property
    def finish(self) -> list[int]:
        return [parse_time(time) for time in self.expect["finish"]]

    @property
    def ops(self) -> Times:
        """Start and end of the ops that are named, by rank and label."""
        result: Times = {}
        for name, (start, end) in self.expect.get("ops", {}).items():
            rank, label = name.split()
            result[int(rank), label] = (parse_time(start), parse_time(end))
        return result

    def listed(self, key: str) -> list[tuple[int, str, str]]:
        """What waits (`waiting`), or the cycle in which it does (`cycle`)."""
        return [(w["rank"], w["op"], w["why"]) for w in self.expect.get(key, [])]

    @property
    def messages(self) -> list[idlewave.UnmatchedMessage]:
        """Those that no op receives."""
        return [idlewave.UnmatchedMessage(**m) for m in self.expect.get("messages", [])]


SCENARIOS = [Scenario.load(path) for path in sorted((ROOT / "tests" / "scenarios").glob("*.toml"))]
ENDING = [s for s in SCENARIOS if "finish" in s.expect and s.dialect == "loggops"]
LOGGOPSIM = [s for s in SCENARIOS if "finish" in s.expect and s.dialect == "loggopsim"]
STANDSTILLS = [s for s in SCENARIOS if "error" in s.expect]


def names(scenarios: list[Scenario]) -> list[str]:
    return [s.name for s in scenarios]


SCHEDULERS = [("sequential", 1), ("yawns", 1), ("yawns", 2), ("yawns", 3)]


@pytest.mark.parametrize(("scheduler", "threads"), SCHEDULERS)
@pytest.mark.parametrize("scenario", ENDING, ids=names(ENDING))
def test_the_simulator_keeps_the_promise_under_every_scheduler(
    scenario: Scenario, scheduler: str, threads: int
) -> None:
    schedule = idlewave.Schedule.from_goal(scenario.schedule)
    timeline = idlewave.simulate(schedule, scenario.machine, record=True, scheduler=scheduler, threads=threads)
    assert timeline.finish.tolist() == scenario.finish, scenario.promise
    labels = [[op.label for op in rank] for rank in read_goal(scenario.schedule)]
    columns = [timeline.columns[name].tolist() for name in ("rank", "op", "start_ps", "end_ps")]
    times = {(rank, labels[rank][op]): (start, end) for rank, op, start, end in zip(*columns, strict=True)}
    assert {op: times[op] for op in scenario.ops} == scenario.ops, scenario.promise


@pytest.mark.parametrize("scenario", ENDING, ids=names(ENDING))
def test_the_oracle_keeps_the_promise(scenario: Scenario) -> None:
    simulation = loggops_rules.Simulation(read_goal(scenario.schedule), scenario.machine)
    simulation.run()
    assert simulation.complete, scenario.promise
    assert [rank.finish for rank in simulation.ranks] == scenario.finish, scenario.promise
    times: Times = {}
    for r, ops in enumerate(simulation.schedule):
        for place, op in enumerate(ops):
            times[r, op.label] = (simulation.ranks[r].started[place], simulation.ranks[r].ended[place])
    assert {op: times[op] for op in scenario.ops} == scenario.ops, scenario.promise


@pytest.mark.parametrize("scenario", LOGGOPSIM, ids=names(LOGGOPSIM))
def test_the_dialect_loggopsim_and_its_oracle_keep_the_promise(scenario: Scenario) -> None:
    schedule = idlewave.Schedule.from_goal(scenario.schedule)
    timeline = idlewave.simulate(schedule, scenario.machine, dialect=scenario.dialect)
    assert timeline.finish.tolist() == scenario.finish, scenario.promise
    assert loggopsim_rules.simulate(scenario.schedule, scenario.machine).finish == scenario.finish, scenario.promise


@pytest.mark.parametrize("scenario", STANDSTILLS, ids=names(STANDSTILLS))
def test_the_simulator_says_who_waits_for_what(scenario: Scenario) -> None:
    schedule = idlewave.Schedule.from_goal(scenario.schedule)
    with pytest.raises(idlewave.Standstill) as raised:
        idlewave.simulate(schedule, scenario.machine, dialect=scenario.dialect)
    found = raised.value
    assert type(found).__name__ == scenario.expect["error"], scenario.promise
    assert sorted(found.waiting) == sorted(scenario.listed("waiting")), scenario.promise
    assert found.cycle == scenario.listed("cycle"), scenario.promise
    assert found.messages == scenario.messages, scenario.promise


@pytest.mark.parametrize("scenario", STANDSTILLS, ids=names(STANDSTILLS))
def test_the_oracle_does_not_come_to_an_end_either(scenario: Scenario) -> None:
    rules = loggops_rules if scenario.dialect == "loggops" else loggopsim_rules
    assert not rules.simulate(scenario.schedule, scenario.machine).complete, scenario.promise


def test_every_scenario_says_what_it_promises_and_what_it_expects() -> None:
    assert SCENARIOS
    assert all(s.promise.endswith(".") for s in SCENARIOS)
    assert sorted(names(ENDING) + names(LOGGOPSIM) + names(STANDSTILLS)) == names(SCENARIOS)
