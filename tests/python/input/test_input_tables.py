"""A table with a wrong column, row or word is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from idlewave import InputError
from idlewave.cli import cli
from idlewave.output import write_table
from idlewave.placement_file import read_placement
from idlewave.studies.table import read_study
from input_samples import STUDY


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("ranks", [4, -4], r"ranks: row 2: expected a whole number from 1 to 4294967294, found '?-4"),
        ("ranks", [0, 4], r"ranks: row 1: expected a whole number from 1 "),
        (
            "finish_ps",
            [-10, 5],
            r"finish_ps: row 1: expected a whole number from 0 to 9[0-9]{18}, found '?-10",
        ),
        ("noise", ["abc", "no"], r"noise: .*expected true or false"),
        ("seconds", [0.1, float("nan")], r"seconds: row 2: expected a number from 0 on, found nothing"),
        ("seconds", [0.1, float("inf")], r"seconds: row 2: expected a number from 0 on, found inf"),
        ("seed", [0, -1], r"seed: row 2: expected a whole number from 0 "),
        ("messages", ["3", "many"], r"messages: .*expected a whole number from 0 on"),
    ],
)
def test_a_study_with_nonsense_in_it_is_refused_with_column_and_row(
    tmp_path: Path, ending: str, column: str, values: list[object], words: str
) -> None:
    file = tmp_path / f"s.{ending}"
    write_table(file, STUDY.assign(**{column: values}))
    with pytest.raises(InputError, match=rf"s.{ending}: {words}"):
        read_study(file)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_study_without_rows_or_a_column_is_refused_by_the_report(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"s.{ending}"
    for table, words in (
        (STUDY.iloc[:0], "expected at least 1 row, found none"),
        (STUDY.drop(columns="noise"), "noise"),
    ):
        write_table(file, table)
        done = CliRunner().invoke(cli, ["report", "--study", str(file), "-o", str(tmp_path / "r")])
        assert isinstance(done.exception, InputError)
        assert words in str(done.exception)
        assert not (tmp_path / "r").exists()


def test_a_study_that_is_written_is_read_back(tmp_path: Path) -> None:
    for ending in ("csv", "parquet"):
        write_table(tmp_path / f"s.{ending}", STUDY)
        pd.testing.assert_frame_equal(read_study(tmp_path / f"s.{ending}"), STUDY)


@pytest.mark.parametrize("word", ["-1", "4294967296", "1.5", "x", "9" * 5000, "\u0663"])
def test_a_placement_of_what_is_no_number_is_refused_with_its_line(tmp_path: Path, word: str) -> None:
    (tmp_path / "p").write_text(f"0 1\n0 {word} 2\n")
    with pytest.raises(InputError, match=r"/p:2: expected whole numbers from 0 to 4294967295, found '"):
        read_placement(tmp_path / "p")
