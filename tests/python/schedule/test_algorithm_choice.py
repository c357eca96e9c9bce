"""It is said by whose choice the collectives of a trace follow which algorithms, and how many."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_runs import run
from idlewave import AlgorithmRule, Machine, Schedule
from idlewave.algorithm_choice import rules_named
from trace_files import write_trace

RULES = (
    AlgorithmRule("allreduce", "ring", ranks=2, residual=0.1),
    AlgorithmRule("allreduce", "reduce_bcast", ranks=32, of_library=True),
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two ranks that reduce 64 bytes three times."""
    return write_trace(tmp_path / "trace")


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A machine whose MPI was measured."""
    file = tmp_path / "vm.toml"
    file.write_text(replace(Machine.preset("odin"), name="vm", algorithm_rules=RULES).to_toml())
    return file


def note_of(*command: object) -> str:
    done = run(*map(str, command))
    assert done.returncode == 0, done.stderr
    return " ".join(done.stderr.split())


def test_the_default_and_every_other_choice_are_said(trace: Path, measured: Path, tmp_path: Path) -> None:
    goal = ("-o", tmp_path / "x.goal")
    assert "collectives by the default algorithms: allreduce: 3 recursive_doubling" in note_of("schedule", trace, *goal)
    on_odin = note_of("simulate", trace, "-m", "odin")
    assert "collectives by the default algorithms: allreduce: 3 recursive_doubling" in on_odin
    assert "collectives by the measured rules of vm: allreduce: 3 ring" in note_of("simulate", trace, "-m", measured)
    library = note_of("simulate", trace, "-m", measured, "-a", "openmpi")
    assert "collectives by the choices of Open MPI 5.0: allreduce: 3 recursive_doubling" in library
    assert library.count("the choices of") == 1, "it is said once"
    assert "by the choices of MPICH 5: allreduce: 3 rabenseifner" in note_of("schedule", trace, "-a", "mpich", *goal)
    named = note_of("simulate", trace, "-m", measured, "-a", "allreduce=dissemination")
    assert "by the measured rules of vm, but allreduce=dissemination: allreduce: 3 dissemination" in named
    (tmp_path / "own.csv").write_text("collective,ranks,bytes,algorithm\nallreduce,2,0,rabenseifner\n")
    own = note_of("study", trace, "-m", measured, "-a", tmp_path / "own.csv", "-o", tmp_path / "study.csv")
    assert f"by the rules in {tmp_path / 'own.csv'}: allreduce: 3 rabenseifner" in own


def test_json_has_them(trace: Path, measured: Path, tmp_path: Path) -> None:
    expected = {"by": "the measured rules of vm", "named": {}, "calls": {"allreduce": {"ring": 3}}}
    assert json.loads(run("simulate", str(trace), "-m", str(measured), "--json").stdout)["collectives"] == expected
    written = run("schedule", str(trace), "--json", "-o", str(tmp_path / "x.goal"), "-a", "openmpi")
    assert json.loads(written.stdout)["collectives"]["by"] == "the choices of Open MPI 5.0"
    pattern = run("simulate", "allreduce", "--ranks", "4", "--bytes", "8", "-m", "odin", "--json")
    assert "collectives" not in json.loads(pattern.stdout), "a pattern says itself which"


def test_a_call_of_all_ranks_counts_once_and_an_extrapolated_trace_has_its_own(trace: Path) -> None:
    schedule = Schedule.from_trace(trace, rules=RULES)
    assert schedule.collectives == {"allreduce": {"ring": 3}}
    assert schedule.extrapolate(64).collectives == {"allreduce": {"reduce_bcast": 3}}
    assert Schedule.from_trace(trace, rules=rules_named("mpich")).collectives == {"allreduce": {"rabenseifner": 3}}
    assert Schedule.from_goal(schedule.to_goal()).collectives == {}
