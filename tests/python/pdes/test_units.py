"""Every number that a run of a model prints is a count or says its unit, and times are in the unit of the model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import run_command
from idlewave import Schedule
from idlewave.parameters import parameters_of
from idlewave.pdes.epidemic import EpidemicParameters
from idlewave.pdes.flood import FloodParameters
from idlewave.pdes.phold import PholdParameters
from pdes_support import run

DAY = 86_400
RUNS = {
    "phold": (["--end", "8"], "millionths of a unit of time", 8e6),
    "epidemic": (["--persons", "2000", "--days", "40"], "s", 40 * DAY),
    "flood": (["--hosts", "64", "--bots", "8", "--routers", "8", "--end", "0.7"], "ps", 0.7e12),
}
"""Of each model: options of a short run, the unit of the model's times, and the end of the run in it."""
COUNT = r"[\d,]+( \([\d.]+%\))?"
QUANTITY = r"[\d,]+\.\d+(%| s| MiB| million)|[\d,]+ MiB"
COUNTS = {
    "events committed",
    "events rolled back",
    "events executed by one thread for all",
    "rollbacks, primary",
    "rollbacks, secondary",
    "anti-messages",
    "remote events",
    "rounds of GVT",
    "segments",
    "ties",
}
UNITS_IN_SENTENCES = {"epidemic": {" persons", "%", " days"}, "flood": {" sent", "%", " ms"}}
WITHOUT_UNIT = {"warp (log10 of that rate, less 9)", "digest of all states"}


@pytest.mark.parametrize("model", RUNS)
def test_gvt_is_in_the_unit_that_the_statistics_name(model: str, tmp_path: Path) -> None:
    words, unit, end = RUNS[model]
    done = run(model, *words, "--scheduler", "yawns", "--threads", "2", "--statistics", str(tmp_path / "s.json"))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "s.json").read_text())
    assert found["time_unit"] == unit
    # In another unit it would be a thousandth of that or less, or a thousand times as much. (The last packets arrive
    # after the end.)
    assert 0.5 * end < found["series"]["gvt"][-1] < 2 * end


def test_gvt_of_a_simulation_is_in_picoseconds(tmp_path: Path) -> None:
    Schedule.pattern("alltoall", ranks=32).save(tmp_path / "a.goal")
    words = "simulate a.goal -m odin --scheduler timewarp --threads 2 --statistics s.json --json"
    simulated = json.loads(run_command(words.split(), tmp_path).printed)
    found = json.loads((tmp_path / "s.json").read_text())
    assert found["time_unit"] == "ps"
    assert 0.5 * simulated["max_finish_ps"] < found["series"]["gvt"][-1] < 2 * simulated["max_finish_ps"]


@pytest.mark.parametrize("model", RUNS)
def test_every_row_of_the_table_is_a_count_or_has_a_unit(model: str) -> None:
    done = run(model, *RUNS[model][0])
    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"^│ (.*?) +│ +(.*?) │$", done.stdout, re.MULTILINE))
    assert rows.keys() > COUNTS | WITHOUT_UNIT
    for name, value in rows.items():
        if name not in WITHOUT_UNIT:
            assert re.fullmatch(COUNT if name in COUNTS else QUANTITY, value), f"{name}: {value}"


@pytest.mark.parametrize("model", ["epidemic", "flood"])
def test_every_number_in_a_sentence_is_followed_by_what_it_counts(model: str) -> None:
    sentences = run(model, *RUNS[model][0]).stdout.split(f"{model}, ")[0]
    numbers = re.findall(r"(?<!day )\b\d[\d,]*(?:\.\d+)?(%| \w+|)", sentences)
    assert set(numbers) == UNITS_IN_SENTENCES[model], sentences


@pytest.mark.parametrize("table", [PholdParameters, EpidemicParameters, FloodParameters])
def test_a_parameter_has_a_unit_or_is_a_share_or_a_rate(table: type) -> None:
    checked: list[str] = []
    for name, (kind, parameter) in parameters_of(table).items():
        if kind is bool:
            continue
        if has_ticks(parameter.to_core):
            assert parameter.unit, f"{name} is a time"
            checked.append(name)
        assert kind is int or parameter.unit or re.search(r"[Ss]hare|Probability|a day", parameter.help), name
    assert checked


def has_ticks(to_core: Callable[[Any], Any]) -> bool:
    """Whether a parameter is a time, which becomes ticks of the core."""
    return bool(to_core(10.0) != 10.0)
