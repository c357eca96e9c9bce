"""`measure collectives` shows the rules that a recording gives, and makes them part of a machine."""

from __future__ import annotations

import json
from pathlib import Path

from collective_recordings import recorded
from command_runs import run_command
from idlewave import Machine


def test_a_recording_gives_rules_that_a_machine_then_has(tmp_path: Path) -> None:
    recorded(tmp_path / "raw")
    target = tmp_path / "machine.toml"
    words = ["measure", "collectives", "--from", "raw", "-m", "odin", "--json", "--write", str(target)]
    done = run_command(words, tmp_path)
    assert done.status == 0, done.complained
    said = json.loads(done.printed)
    assert {rule["collective"] for rule in said["rules"]} == {"barrier", "bcast", "allreduce"}
    assert {row["collective"] for row in said["collectives"]} == {"barrier", "bcast", "allreduce"}
    assert all(row["error"] == row["simulated_ps"] / row["median_ps"] - 1 for row in said["collectives"])
    written = Machine.load(target)
    assert written.network == Machine.preset("odin").network
    assert [rule.collective for rule in written.algorithm_rules] == [rule["collective"] for rule in said["rules"]]
    again = run_command(["simulate", "allreduce", "--ranks", "2", "--bytes", "8", "-m", str(target)], tmp_path)
    assert again.status == 0, again.complained


def test_rules_for_other_numbers_of_ranks_are_kept(tmp_path: Path) -> None:
    recorded(tmp_path / "two")
    recorded(tmp_path / "three", ranks=[{"host": "a", "cpu": cpu} for cpu in range(3)])
    machine = "odin"
    for name in ("two", "three", "two"):
        target = tmp_path / f"{name}.toml"
        done = run_command(["measure", "collectives", "--from", name, "-m", machine, "--write", str(target)], tmp_path)
        assert done.status == 0, done.complained
        machine = str(target)
    ranks = [rule.ranks for rule in Machine.load(machine).algorithm_rules if rule.collective == "bcast"]
    assert sorted(set(ranks)) == [2, 3]


def test_the_table_names_collective_algorithm_and_error(tmp_path: Path) -> None:
    recorded(tmp_path)
    done = run_command(["measure", "collectives", "--from", ".", "-m", "odin"], tmp_path)
    assert done.status == 0, done.complained
    for word in ("collective", "algorithm", "median error", "allreduce", "dissemination"):
        assert word in done.printed
    assert "take less time than the messages of any algorithm" in done.complained


def test_ranks_or_a_recording_are_needed(tmp_path: Path) -> None:
    done = run_command(["measure", "collectives", "-m", "odin"], tmp_path)
    assert done.status == 2
    assert "either -n RANKS or --from FOLDER is needed" in done.complained
