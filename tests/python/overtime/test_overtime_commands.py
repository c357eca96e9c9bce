"""Recordings are read as far as they were written, and the commands say and draw what is in them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from command_runs import run_command
from idlewave.errors import InputError
from idlewave.measure.overtime.recording import read_overtime
from overtime_recordings import recording_table, write_recording

TRUTH = {"steps": {"latency": [(60, 1.6)]}, "driven": [("allreduce", 1, 0.1)], "counters": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recording(tmp_path_factory.mktemp("overtime") / "recording", recording_table(120, **TRUTH))  # type: ignore[arg-type]


def test_parts_and_tail_are_one_table(folder: Path) -> None:
    found = read_overtime(folder)
    pd.testing.assert_frame_equal(found.table, recording_table(120, **TRUTH), check_dtype=False)  # type: ignore[arg-type]
    assert found.counters == ("counter.net.stalls", "counter.net.stalls_1")
    assert not found.notes


def test_a_torn_last_line_is_left_out_and_said(tmp_path: Path) -> None:
    place = write_recording(tmp_path / "r", recording_table(10))
    with (place / "tail.jsonl").open("a") as file:
        file.write('{"run": 0, "pha')
    found = read_overtime(place)
    assert len(found.table) == 60
    assert any("torn" in note for note in found.notes)


def test_rows_that_are_in_a_part_and_in_the_tail_count_once(tmp_path: Path) -> None:
    table = recording_table(10)
    place = write_recording(tmp_path / "r", table)
    table.iloc[57:].to_parquet(place / "overtime.parquet" / "part-000002.parquet", index=False)
    assert len(read_overtime(place).table) == 60


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda place: (place / "overtime.json").unlink(), "overtime.json"),
        (lambda place: (place / "overtime.json").write_text("[]"), "overtime.json: expected a JSON object"),
        (lambda place: (place / "overtime.parquet/part-000001.parquet").write_bytes(b"PAR1 no"), "part-000001"),
        (lambda place: (place / "tail.jsonl").write_text('x\n{"run": 0}\n'), "tail.jsonl:1: expected JSON"),
        (
            lambda place: (place / "tail.jsonl").write_text('{"run": 0}\n'),
            "tail.jsonl:1: phase: expected a whole number",
        ),
    ],
)
def test_a_damaged_recording_is_refused_with_its_file(damage, expected: str, tmp_path: Path) -> None:
    place = write_recording(tmp_path / "r", recording_table(10))
    damage(place)
    with pytest.raises(InputError, match=expected):
        read_overtime(place)


def test_show_says_levels_and_writes_and_draws_them(folder: Path, tmp_path: Path) -> None:
    words = ["overtime", "show", str(folder), "-o", "levels.parquet", "--plot", "x.svg", "--json"]
    ended = run_command(words, tmp_path)
    assert ended.status == 0, ended.complained
    said = json.loads(ended.printed)
    assert [one["changes"] for one in said["series"]] == [1, 0, 0]
    assert said["levels"][1]["step"] == pytest.approx(1.6, rel=0.02)
    written = pd.read_parquet(tmp_path / "levels.parquet")
    assert written["phases"].tolist() == [one["phases"] for one in said["levels"]]
    assert (tmp_path / "x.svg").stat().st_size > 10_000


def test_hours_without_a_plot_are_wrong_use(folder: Path, tmp_path: Path) -> None:
    ended = run_command(["overtime", "show", str(folder), "--hours"], tmp_path)
    assert ended.status == 2
    assert "--hours draws nothing without --plot" in ended.complained


def test_correlate_names_the_counter_and_its_lag(folder: Path, tmp_path: Path) -> None:
    ended = run_command(["overtime", "correlate", str(folder), "--lags", "3"], tmp_path)
    assert ended.status == 0, ended.complained
    assert "1 of 4 pairs of a counter and a series is significant" in ended.printed
    assert "net.stalls with allreduce, 8 B: +0.9" in ended.printed
    assert "1 phase before. Without a p-value: 1 of 3 series" in ended.printed


def test_predict_says_errors_by_predictor(folder: Path, tmp_path: Path) -> None:
    ended = run_command(["overtime", "predict", str(folder), "--json"], tmp_path)
    errors = pd.DataFrame(json.loads(ended.printed)["errors"])
    own = errors[(errors["test"] == "allreduce") & (errors["horizon"] == 1)].set_index("predictor")["median_error"]
    assert own.idxmin() == "idle"


def test_the_page_is_one_file_with_findings_figures_and_tables(folder: Path, tmp_path: Path) -> None:
    ended = run_command(["overtime", "report", str(folder)], tmp_path)
    assert ended.status == 0, ended.complained
    page = (tmp_path / "overtime.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4
    assert page.count("<table>") == 5
    for words in ("1 change of level", "1 of 4 pairs of a counter and a series is significant", "net.stalls"):
        assert words in page
    for outside in ("<script", '<link rel="stylesheet', 'src="http'):
        assert outside not in page
