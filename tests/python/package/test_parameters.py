"""A parameter is declared once: signature, option, check and the struct of the core agree with its table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from idlewave import Machine, Operation, Schedule, _core, latency_tolerance, pdes, sensitivities, simulate, study
from idlewave.cli import cli
from idlewave.errors import UsageError
from idlewave.kernel import RunOptions, SimulationOptions
from idlewave.measure import assess_pair, measure_network, measure_noise
from idlewave.parameters import completed, filled, parameters_of
from idlewave.pattern_options import AllPatternParameters, PatternOptions
from idlewave.pdes.epidemic import EpidemicParameters
from idlewave.pdes.flood import FloodParameters
from idlewave.pdes.phold import PholdParameters
from idlewave.report import report_of

COMMANDS = ("simulate", "timeline", "explain", "study", "pdes phold", "pdes epidemic", "pdes flood")
FUNCTIONS = (simulate, sensitivities, latency_tolerance, study, pdes.phold, pdes.epidemic, pdes.flood)


def command(words: str) -> click.Command:
    found: click.Command = cli
    for word in words.split():
        assert isinstance(found, click.Group)
        child = found.get_command(click.Context(found), word)
        assert child is not None
        found = child
    return found


def fields_of(struct: object) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in dir(struct) if not name.startswith("_")}


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_that_runs_has_the_options_of_a_run(words: str) -> None:
    options = {option.name: option for option in command(words).params}
    assert "statistics" in options
    for name, (_, parameter) in parameters_of(RunOptions).items():
        option = options[name]
        assert isinstance(option, click.Option)
        assert option.opts == [f"--{name.replace('_', '-')}"]
        assert (option.default or None, option.help) == (parameter.default or None, parameter.sentence)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_that_runs_has_the_options_of_a_run(function: Callable[..., Any]) -> None:
    signature = inspect.signature(function)
    for name, (_, parameter) in parameters_of(RunOptions).items():
        assert signature.parameters[name].default == parameter.default
        assert f"{name}: {parameter.sentence}" in str(function.__doc__)


@pytest.mark.parametrize(
    ("table", "core", "parts"),
    [
        (PholdParameters, _core.PholdParameters, ()),
        (EpidemicParameters, _core.EpidemicParameters, ("city", "interventions")),
        (FloodParameters, _core.FloodParameters, ()),
    ],
)
def test_a_model_has_the_same_parameters_and_defaults_in_its_table_and_in_the_core(
    table: type, core: Callable[[], Any], parts: tuple[str, ...]
) -> None:
    made, fresh = core(), core()
    filled(table, completed(table, {}), made, *(getattr(made, part) for part in parts))
    names: set[str] = set()
    for one, other in ((made, fresh), *((getattr(made, part), getattr(fresh, part)) for part in parts)):
        found = {name: value for name, value in fields_of(one).items() if name not in parts}
        assert found == {name: value for name, value in fields_of(other).items() if name not in parts}
        names |= found.keys()
    assert names == {parameter.field or name for name, (_, parameter) in parameters_of(table).items()}


def test_a_pattern_has_the_same_defaults_in_its_table_and_in_the_core() -> None:
    fresh = _core.PatternCall()
    made = PatternOptions().core(fresh.bytes, fresh.reduction_cost)
    assert fields_of(made.shape) == fields_of(fresh.shape)
    for name in set(fields_of(made)) - {"shape"}:
        assert getattr(made, name) == getattr(fresh, name)
    options = {option.name: option for option in command("simulate").params}
    for name, (_, parameter) in parameters_of(AllPatternParameters).items():
        text = getattr(options["chosen" if name == "algorithm" else name], "help", "")
        assert text.startswith(parameter.sentence.removesuffix("."))


def test_what_all_patterns_take_has_the_defaults_of_the_core_wherever_it_is_given() -> None:
    fresh, operation = _core.PatternCall(), Operation("bcast")
    assert (operation.bytes, operation.algorithm) == (fresh.bytes, "")
    for function in (Schedule.pattern, Schedule.from_trace):
        assert inspect.signature(function).parameters["reduction_cost"].default == fresh.reduction_cost
    assert inspect.signature(Schedule.pattern).parameters["bytes"].default == fresh.bytes


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ranks": 0}, "expected ranks from 1 to 4294967294, found 0"),
        ({"ranks": None}, "expected ranks to be a whole number, found 'None'"),
        ({"bytes": -1}, "expected bytes from 0 to 2^50 bytes, found -1"),
        ({"bytes": 2**50 + 1}, "expected bytes from 0 to 2^50 bytes, found 1125899906842625"),
        ({"reduction_cost": float("nan")}, "expected reduction_cost from 0 to 1000000 ns per byte, found nan"),
        ({"ways": 0}, "expected ways from 1 to 1048576, found 0"),
    ],
)
def test_a_parameter_of_a_pattern_out_of_its_range_is_refused_by_name(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        Schedule.pattern("bcast", **({"ranks": 4} | given))
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("words", "option", "function", "parameter"),
    [
        ("measure network", "seconds", measure_network, "seconds"),
        ("measure network", "pattern_seconds", assess_pair, "pattern_seconds"),
        ("measure network", "epochs", assess_pair, "epochs"),
        ("measure", "pattern_seconds", assess_pair, "pattern_seconds"),
        ("measure", "network_seconds", measure_network, "seconds"),
        ("measure", "noise_seconds", measure_noise, "seconds_per_core"),
        ("measure noise", "seconds", measure_noise, "seconds_per_core"),
        ("study", "seeds", study, "seeds"),
        ("explain", "most_simulations", latency_tolerance, "most_simulations"),
        ("report", "title", report_of, "title"),
    ],
)
def test_an_option_has_the_default_of_the_function_that_gets_it(
    words: str, option: str, function: Callable[..., Any], parameter: str
) -> None:
    options = {option.name: option for option in command(words).params}
    assert options[option].default == inspect.signature(function).parameters[parameter].default


def test_a_run_that_is_not_possible_yet_names_what_is(tmp_path: Path) -> None:
    schedule, machine = Schedule.pattern("dissemination", ranks=8), Machine.preset("bigred")
    with pytest.raises(UsageError, match=r"in one process.*found scheduler timewarp"):
        simulate(schedule, machine, scheduler="timewarp", dialect="loggopsim")
    with pytest.raises(UsageError, match="a study writes no checkpoints"):
        study(schedule, machine, checkpoint=tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        "simulate bcast --ranks 4 -m odin",
        "timeline bcast --ranks 4 -m odin -o x.parquet",
        "explain bcast --ranks 4 -m odin",
        "study x.goal -m odin",
    ],
)
def test_statistics_of_a_run_that_counts_nothing_are_refused(words: str, tmp_path: Path) -> None:
    Schedule.pattern("bcast", ranks=4).save(tmp_path / "x.goal")
    file = tmp_path / "x.json"
    asked = [str(tmp_path / word) if word.startswith("x.") else word for word in words.split()]
    refused = CliRunner().invoke(cli, [*asked, "--statistics", str(file)])
    assert isinstance(refused.exception, UsageError)
    assert "with --scheduler timewarp or check, or with --processes" in str(refused.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["x.goal"]


def test_a_study_has_the_same_rows_on_every_scheduler() -> None:
    schedule, machine = Schedule.pattern("dissemination", ranks=32), Machine.preset("bigred")
    rows = study(schedule, machine, workers=1)
    for options in ({"scheduler": "yawns", "threads": 2}, {"scheduler": "timewarp", "threads": 2}):
        found = study(schedule, machine, workers=1, **options)  # type: ignore[arg-type]
        assert found.drop(columns="seconds").equals(rows.drop(columns="seconds"))


def test_options_of_a_simulation_are_checked_by_name() -> None:
    with pytest.raises(UsageError, match="expected threads from 1 to 1024, found 0"):
        completed(SimulationOptions, {"threads": 0})
    with pytest.raises(TypeError, match="unexpected keyword argument 'thread'"):
        simulate(Schedule.pattern("bcast", ranks=2), "odin", thread=2)  # type: ignore[call-arg]


@pytest.mark.parametrize("sizes", [8, "8", [8.5], None])
def test_what_is_no_list_of_whole_numbers_is_refused_by_name(sizes: object) -> None:
    with pytest.raises(UsageError, match="expected face_bytes to be a list of whole numbers, found"):
        Schedule.pattern("halo2d", ranks=4, face_bytes=sizes)  # type: ignore[arg-type]
