"""A study's provenance is that of its rows; rows that are others are told, and rows that cannot be are refused."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import idlewave
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command_runs import run_command
from idlewave import InputError, Machine, Noise, Provenance, Schedule, UsageError
from idlewave.cli import study_command
from idlewave.event_run import EventRun
from idlewave.measure import Measurement
from idlewave.output import write_table
from idlewave.report import findings, report_of
from idlewave.simulation import simulate_checked
from idlewave.studies import workers
from idlewave.studies.table import read_study
from places import ROOT
from pyarrow import parquet
from trace_files import write_trace

COLUMNS = ["ranks", "noise", "seed", "finish_ps", "messages", "seconds"]


@pytest.fixture
def noisy(machine: Machine) -> Machine:
    return machine.with_noise(Noise(np.array([0]), np.array([50]), 1000))


@pytest.fixture
def runs(noisy: Machine) -> pd.DataFrame:
    return idlewave.study(Schedule.pattern("bcast", ranks=4), noisy, seeds=3)


def rows(*given: tuple[int, bool, int, int, int]) -> pd.DataFrame:
    """A study of nobody knows what: ranks, noise, seed, finish_ps, messages."""
    return pd.DataFrame([(*row, 0.1) for row in given], columns=COLUMNS)


def edited_with_arrow(file: Path) -> None:
    """One run takes a picosecond longer, and the metadata stay."""
    table = parquet.read_table(file)
    times = table["finish_ps"].to_pylist()
    times[-1] += 1
    parquet.write_table(table.set_column(table.schema.get_field_index("finish_ps"), "finish_ps", pa.array(times)), file)


def edited_with_pandas(file: Path) -> None:
    """The same, of what pandas keeps."""
    table = pd.read_parquet(file)
    table.loc[len(table) - 1, "finish_ps"] += 1
    table.to_parquet(file)


# Which rows they are


def test_the_digest_of_the_rows_is_what_the_document_says(runs: pd.DataFrame) -> None:
    document = (ROOT / "docs" / "provenance.md").read_text(encoding="utf-8")
    code = document.partition("```python\nruns = ")[2].partition("```")[0]
    found: dict[str, object] = {"pd": pd, "hashlib": hashlib, "runs": runs}
    exec(code.partition("\n")[2], found)
    assert Provenance.of_table(runs).digests == {"rows": found["digest"]}


def test_it_is_the_same_in_every_form_in_any_order_and_however_long_it_took(
    runs: pd.DataFrame, noisy: Machine, tmp_path: Path
) -> None:
    again = idlewave.study(Schedule.pattern("bcast", ranks=4), noisy, seeds=3)
    write_table(tmp_path / "a.csv", runs)
    write_table(tmp_path / "a.parquet", again)
    write_table(tmp_path / "turned.parquet", runs[::-1])
    again.assign(seconds=9.0, mine="x").to_parquet(tmp_path / "py.parquet")
    found = [Provenance.read(file) for file in tmp_path.glob("a.*[vt]")]
    found += [Provenance.read(tmp_path / name) for name in ("turned.parquet", "py.parquet")]
    assert {said.digests["rows"] for said in found} == {Provenance.of_table(runs).digests["rows"]}
    assert not any(said.options.get("edited") for said in found)


def test_other_seeds_and_the_largest_ones_have_another_digest(noisy: Machine, tmp_path: Path) -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    tables = [idlewave.study(schedule, noisy, seeds=seeds) for seeds in ([1], [2], [2**64 - 1])]
    assert len({Provenance.of_table(table).digests["rows"] for table in tables}) == 3
    write_table(tmp_path / "s.parquet", tables[2])
    assert "edited" not in Provenance.read(tmp_path / "s.parquet").options


@pytest.mark.parametrize("edit", [edited_with_arrow, edited_with_pandas])
@pytest.mark.parametrize("write", [write_table, lambda file, table: table.to_parquet(file)])
def test_an_edited_parquet_is_no_study_of_the_measured_noise(
    edit: Callable[[Path], None],
    write: Callable[[Path, pd.DataFrame], None],
    material: dict[str, str],
    tmp_path: Path,
) -> None:
    measured, file = Measurement.load(material["machine"]), tmp_path / "s.parquet"
    write(
        file, idlewave.study(Schedule.load(material["goal"]), Machine.load(measured.folder / "machine.toml"), seeds=2)
    )
    whole = report_of(measured, None, None, read_study(file))
    assert findings(whole)["scale"].startswith("The measured noise slows")
    edit(file)
    with pytest.raises(InputError, match="The study was edited after it was made"):
        report_of(measured, None, None, read_study(file))
    mixed = findings(report_of(measured, None, None, read_study(file), allow_mixed=True))["scale"]
    assert mixed.startswith("Noise of unknown origin slows")
    assert mixed.endswith("The study was edited after it was made.")


def test_the_commands_tell_an_edited_parquet(material: dict[str, str], tmp_path: Path) -> None:
    run_command(["study", material["goal"], "-m", material["machine"], "--seeds", "2", "-o", "s.parquet"], tmp_path)
    assert "edited" not in run_command(["about", "s.parquet"], tmp_path).printed
    edited_with_arrow(tmp_path / "s.parquet")
    assert "  edited: True" in run_command(["about", "s.parquet"], tmp_path).printed.splitlines()
    refused = run_command(["report", "--machine", material["machine"], "--study", "s.parquet"], tmp_path)
    assert (refused.status, "s.parquet was edited after it was made." in refused.complained) == (1, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda runs: runs.assign(finish_ps=runs["finish_ps"] + 1), "was edited after it was made"),
        (lambda runs: runs.assign(messages=runs["messages"] + 1), "was edited after it was made"),
        (lambda runs: runs.assign(ranks=8), "was edited after it was made"),
        (lambda runs: runs.assign(seed=runs["seed"] + 1), "was edited after it was made"),
        (lambda runs: runs[runs["seed"] < 2], "was edited after it was made"),
        (lambda runs: without_digest(runs), "does not say with which rows it was made"),
    ],
)
def test_rows_of_which_a_data_frame_does_not_speak_are_refused(
    change: Callable[[pd.DataFrame], pd.DataFrame], words: str, runs: pd.DataFrame, tmp_path: Path
) -> None:
    trace = idlewave.Trace.load(write_trace(tmp_path / "trace"))
    with pytest.raises(InputError, match=f"The study {words}"):
        report_of(None, trace, None, change(runs))
    alone = report_of(None, None, None, change(runs))
    assert findings(alone)["scale"].startswith("Noise of unknown origin")
    assert any(words in note for note in alone.notes)


def without_digest(runs: pd.DataFrame) -> pd.DataFrame:
    said = json.loads(runs.attrs["idlewave"])
    runs.attrs["idlewave"] = json.dumps({key: value for key, value in said.items() if key != "digests"})
    return runs


def test_rows_that_are_no_study_any_more_are_edited_ones(runs: pd.DataFrame, tmp_path: Path) -> None:
    runs.drop(columns="messages").to_parquet(tmp_path / "s.parquet")
    assert Provenance.read(tmp_path / "s.parquet").options["edited"] is True


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_what_is_left_of_an_interrupted_study_is_what_its_provenance_speaks_of(
    ending: str, noisy: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, on_row: Callable[[dict[str, object]], None], **_options: object) -> None:
        for noise, seed, finish in ((True, 1, 12), (False, 0, 10)):
            on_row(dict(zip(COLUMNS, (4, noise, seed, finish, 3, 0.1), strict=True)))
        raise KeyboardInterrupt

    monkeypatch.setattr(study_command, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        study_command.run_study(Schedule.pattern("bcast", ranks=4), noisy, [4], 2, tmp_path / f"s.{ending}")
    kept = read_study(tmp_path / f"s-interrupted.{ending}")
    said = Provenance.of_table(kept)
    assert set(said.digests) >= {"rows"}
    assert "edited" not in said.options
    assert findings(report_of(None, None, None, kept))["scale"].startswith("The noise of")


# What its simulations counted


PARTITIONS: dict[str, Any] = {"scheduler": "timewarp", "threads": 2}


def test_the_statistics_of_each_simulation_come_with_its_row(noisy: Machine) -> None:
    told: list[tuple[dict[str, Any], EventRun]] = []
    idlewave.study(
        Schedule.pattern("bcast", ranks=4), noisy, seeds=3, on_run=lambda *both: told.append(both), **PARTITIONS
    )
    assert sorted((row["noise"], row["seed"]) for row, _ in told) == [(False, 0), (True, 0), (True, 1), (True, 2)]
    assert all(run.committed == row["messages"] for row, run in told)


def test_simulations_that_count_nothing_have_no_statistics(noisy: Machine) -> None:
    told: list[object] = []
    idlewave.study(Schedule.pattern("bcast", ranks=4), noisy, seeds=1, on_run=lambda *both: told.append(both))
    assert told == []


def test_the_command_writes_the_statistics_in_the_order_of_the_table(material: dict[str, str], tmp_path: Path) -> None:
    assert run_command(["schedule", "alltoall", "--ranks", "64", "-o", "alltoall.goal"], tmp_path).status == 0
    words = f"study alltoall.goal -m {material['machine']} --seeds 3 --scheduler check --statistics s.json"
    assert run_command([*words.split(), "-o", "s.csv"], tmp_path).status == 0
    found = json.loads((tmp_path / "s.json").read_text())
    table = read_study(tmp_path / "s.csv")
    keys = ["ranks", "noise", "seed"]
    assert [[run[key] for key in keys] for run in found["runs"]] == table[keys].to_numpy(dtype=object).tolist()
    assert [run["committed"] for run in found["runs"]] == table["messages"].tolist()
    assert all(len(run["series"]["gvt"]) > 0 for run in found["runs"])
    said = Provenance.read(tmp_path / "s.json")
    assert said is not None
    assert said.digests["rows"] == Provenance.read(tmp_path / "s.csv").digests["rows"]


def interrupt_after(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every study of the command is interrupted when it has so many rows."""
    whole = idlewave.study

    def interrupted(*arguments: Any, on_row: Callable[[dict[str, object]], None], **options: Any) -> pd.DataFrame:
        told = 0

        def count(row: dict[str, object]) -> None:
            nonlocal told
            on_row(row)
            told += 1
            if told == rows:
                raise KeyboardInterrupt

        return whole(*arguments, on_row=count, **options)

    monkeypatch.setattr(study_command, "run", interrupted)


def test_an_interrupted_study_keeps_the_statistics_of_the_rows_it_keeps(
    noisy: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(2, monkeypatch)
    (tmp_path / "s.json").write_text("of a whole study")
    with pytest.raises(KeyboardInterrupt):
        study_command.run_study(
            Schedule.pattern("bcast", ranks=4),
            noisy,
            [4],
            500,
            tmp_path / "s.csv",
            workers=1,
            statistics=tmp_path / "s.json",
            **PARTITIONS,
        )
    kept = read_study(tmp_path / "s-interrupted.csv")
    found = json.loads((tmp_path / "s-interrupted.json").read_text())["runs"]
    assert 2 <= len(kept) < 501
    assert sorted((run["noise"], run["seed"]) for run in found) == sorted(zip(kept["noise"], kept["seed"], strict=True))
    assert (tmp_path / "s.json").read_text() == "of a whole study"


# What pandas has written


def test_what_pandas_writes_of_a_study_or_ops_says_what_it_is_of(runs: pd.DataFrame, tmp_path: Path) -> None:
    schedule, machine = Schedule.pattern("bcast", ranks=4), Machine.preset("odin")
    ops = idlewave.simulate(schedule, machine, record=True).ops_to_pandas()
    for name, table in (("study", runs), ("ops", ops)):
        file = tmp_path / f"{name}.parquet"
        table.to_parquet(file)
        assert Provenance.read(file) == Provenance.of_table(table)
        assert Provenance.of_table(parquet.read_table(file)) == Provenance.of_table(table)
        about = run_command(["about", str(file)], tmp_path)
        assert about.status == 0, about.complained
    assert Provenance.of_table(read_study(tmp_path / "study.parquet")) == Provenance.of_table(runs)


def test_attributes_are_found_in_what_older_versions_of_pandas_or_arrow_wrote(
    runs: pd.DataFrame, tmp_path: Path
) -> None:
    runs.to_parquet(tmp_path / "s.parquet")
    table = parquet.read_table(tmp_path / "s.parquet")
    both = table.schema.metadata
    for key in (b"PANDAS_ATTRS", b"pandas"):
        parquet.write_table(table.replace_schema_metadata({key: both[key]}), tmp_path / "s.parquet")
        assert Provenance.read(tmp_path / "s.parquet") == Provenance.of_table(runs)


@pytest.mark.parametrize("metadata", [b"{", b"[]", b"\xff", b'{"attributes": 3, "idlewave": {}}', b"[" * 100_000])
def test_metadata_of_other_programs_that_say_nothing_are_passed_over(metadata: bytes, tmp_path: Path) -> None:
    table = pa.table({"ranks": [4]}).replace_schema_metadata({b"pandas": metadata, b"PANDAS_ATTRS": metadata})
    parquet.write_table(table, tmp_path / "s.parquet")
    assert Provenance.read(tmp_path / "s.parquet") is None
    assert Provenance.of_table(table) is None


# What cannot be


NONSENSE = {
    "a run twice": (
        [(4, False, 0, 10, 3), (4, True, 5, 12, 3), (8, True, 5, 12, 3), (4, True, 5, 13, 3)],
        "row 4: expected each run once, found ranks 4, noise true, seed 5 as in row 2",
    ),
    "later than all times": (
        [(4, False, 0, 10, 3), (4, True, 0, 2**63 - 1, 3)],
        "finish_ps: row 2: expected a whole number from 0 to 9223372036854775806, found 9223372036854775807",
    ),
    "messages in no time": (
        [(4, False, 0, 0, 3)],
        r"finish_ps: row 1: expected a time from 1 on, for messages were sent \(3\), found 0",
    ),
    "noise that leaves nothing": (
        [(4, False, 0, 1000, 0), (4, True, 0, 0, 0)],
        r"finish_ps: row 2: expected at least 1/100 of the 1000 ps without noise \(ranks: 4\), found 0",
    ),
    "a thousandth of the time": (
        [(8, True, 0, 999, 3), (4, False, 0, 1000, 3), (4, True, 0, 9, 3)],
        r"finish_ps: row 3: expected at least 1/100 of the 1000 ps without noise \(ranks: 4\), found 9",
    ),
    "2.5 billion percent": (
        [(4, False, 0, 10**9, 3), (4, True, 0, 25 * 10**15, 3)],
        r"finish_ps: row 2: expected at most 10,000,000 times the 1000000000 ps without noise",
    ),
    "noise that makes something of nothing": (
        [(4, False, 0, 0, 0), (4, True, 0, 1, 0)],
        r"finish_ps: row 2: expected at most 10,000,000 times the 0 ps without noise",
    ),
    "messages that get more": (
        [(4, False, 0, 10, 3), (8, False, 0, 10, 6), (4, True, 0, 10, 4)],
        "messages: row 3: expected 3, as in the first run of as many ranks, found 4",
    ),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_a_study_that_cannot_be_is_refused_with_its_row(case: str, tmp_path: Path) -> None:
    given, words = NONSENSE[case]
    table = rows(*given)
    for name in ("s.csv", "s.parquet"):
        write_table(tmp_path / name, table)
        with pytest.raises(InputError, match=f"{name}: {words}"):
            read_study(tmp_path / name)
    with pytest.raises(InputError, match=f"the study: {words}"):
        report_of(None, None, None, table)


def test_what_may_be_is_read(tmp_path: Path) -> None:
    for given in (
        [(4, False, 0, 1000, 3), (4, True, 0, 980, 3), (4, True, 1, 10, 3)],
        [(4, False, 0, 1000, 3), (4, True, 0, 10**10, 3)],
        [(4, False, 0, 0, 0), (4, True, 0, 0, 0)],
        [(4, True, 0, 9, 3), (8, False, 0, 10**6, 6)],
        [(4, False, 0, 2**63 - 2, 3)],
    ):
        write_table(tmp_path / "s.csv", rows(*given))
        assert len(read_study(tmp_path / "s.csv")) == len(given)


def test_what_was_simulated_is_so_however_odd_it_looks(tmp_path: Path) -> None:
    free = Machine.from_toml('[network]\nL = "0ns"\no = "0ns"\ng = "0ns"\nG = "0ns"\nO = "0ns"\nS = 65536\n')
    late = free.with_noise(Noise(np.array([0]), np.array([900_000]), 1_000_000))
    odd = idlewave.study(Schedule.pattern("bcast", ranks=2), late, seeds=3)
    assert odd["finish_ps"].iloc[0] == 0
    assert odd["finish_ps"].iloc[1:].max() > 0
    for name in ("s.csv", "s.parquet"):
        write_table(tmp_path / name, odd)
        assert len(read_study(tmp_path / name)) == 4
    assert len(report_of(None, None, None, odd).study) == len(odd)
    odd.attrs = {}
    with pytest.raises(InputError, match="expected a time from 1 on"):
        report_of(None, None, None, odd)


# What a study is asked for


def test_a_number_of_seeds_is_so_many_and_a_number_of_ranks_is_one(noisy: Machine) -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    columns = ["ranks", "noise", "seed", "finish_ps", "messages"]
    expected = idlewave.study(schedule, noisy, ranks=[4], seeds=range(2))[columns]
    for ranks, seeds in ((4, 2), (np.int64(4), np.int32(2)), (np.array([4]), np.arange(2))):
        pd.testing.assert_frame_equal(idlewave.study(schedule, noisy, ranks=ranks, seeds=seeds)[columns], expected)
    assert len(idlewave.study(schedule, noisy, seeds=0)) == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"seeds": -1}, "expected a number of seeds from 0 on, found -1"),
        ({"seeds": 10**20}, f"expected a number of seeds up to {2**63 - 1}, found '{10**20}'"),
        ({"seeds": 1.5}, "expected a number of seeds that is a whole number, found '1.5'"),
        ({"seeds": True}, "expected a number of seeds that is a whole number, found 'True'"),
        ({"seeds": None}, "expected a number of seeds that is a whole number, found 'None'"),
        ({"seeds": [0, 1.5]}, "expected a seed that is a whole number, found '1.5'"),
        ({"seeds": [0, -1]}, "expected seed from 0 to 2^64 - 1, found -1"),
        ({"seeds": [3, 0, 3]}, "expected each seed once, found 3 more than once"),
        ({"seeds": "16"}, "expected a seed that is a whole number, found '16'"),
        ({"ranks": [4, 4]}, "expected each number of ranks once, found 4 more than once"),
        ({"ranks": ["4"]}, "expected a number of ranks that is a whole number, found '4'"),
        ({"ranks": []}, "expected at least one number of ranks"),
    ],
)
def test_what_are_no_seeds_or_ranks_is_refused(asked: dict[str, object], words: str, noisy: Machine) -> None:
    with pytest.raises(UsageError) as refused:
        idlewave.study(Schedule.pattern("bcast", ranks=4), noisy, **asked)
    assert str(refused.value) == words


def test_the_command_refuses_a_number_of_ranks_twice(material: dict[str, str], tmp_path: Path) -> None:
    refused = run_command(["study", material["goal"], "-m", "odin", "--ranks", "2,2"], tmp_path)
    assert (refused.status, "expected each number of ranks once" in refused.complained) == (2, True)


def test_an_interrupted_study_has_told_every_simulation_that_was_finished(
    noisy: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    latest = threading.local()
    finished: list[int] = []
    told: list[object] = []

    def simulate(schedule: Schedule, machine: Machine, seed: int, *options: Any) -> Any:
        # A worker that begins a simulation has delivered the one before it.
        if hasattr(latest, "seed"):
            finished.append(latest.seed)
        latest.seed = seed
        return simulate_checked(schedule, machine, seed, *options)

    finished_before: set[int] = set()

    def interrupted(row: dict[str, object]) -> None:
        told.append(row["seed"])
        if len(told) == 1:
            while len(finished) < 200:
                time.sleep(0.001)
            finished_before.update(finished)
            raise KeyboardInterrupt

    monkeypatch.setattr(workers, "simulate_checked", simulate)
    with pytest.raises(KeyboardInterrupt):
        idlewave.study(Schedule.pattern("bcast", ranks=4), noisy, seeds=1000, workers=2, on_row=interrupted)
    assert len(finished_before) > 100
    assert finished_before <= set(told)
