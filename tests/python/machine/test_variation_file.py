"""The [network.variation] table of a machine.toml, and the file of factors that it names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from idlewave import InputError, Machine, Variation
from idlewave.machine_file.writer import machine_toml

NETWORK = '[network]\nL = "1us"\no = "0.4us"\ng = "0.6us"\nG = "0.2ns"\nO = "0ns"\nS = "inf"\n'
HEADER = "start_ns,L_factor,G_factor\n"


def machine_in(folder: Path, rows: str, table: str = 'file = "variation.csv"') -> Machine:
    (folder / "variation.csv").write_text(rows)
    (folder / "machine.toml").write_text(f"{NETWORK}\n[network.variation]\n{table}\n")
    return Machine.load(folder / "machine.toml")


def test_a_machine_has_the_variation_of_its_file(tmp_path: Path) -> None:
    table = 'file = "variation.csv"\nperiod = "2us"\nfrom = "node17"'
    found = machine_in(tmp_path, f"{HEADER}0.5,1.5,2\n\n100, 0.25 ,1e-1\n", table).variation
    assert found == Variation(np.array([500, 100_000]), np.array([1.5, 0.25]), np.array([2, 0.1]), 2_000_000, "node17")


def test_a_file_of_factors_without_rows_changes_nothing(tmp_path: Path) -> None:
    machine = machine_in(tmp_path, HEADER)
    assert machine.core().lookahead == Machine.from_toml(NETWORK).core().lookahead


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("", "variation.csv:1: expected the header start_ns,L_factor,G_factor, found nothing"),
        ("start_ns,length_ns\n", "variation.csv:1: expected the header start_ns,L_factor,G_factor, found start_ns"),
        (f"{HEADER}1,2\n", "variation.csv:2: expected start_ns,L_factor,G_factor, three numbers, found 1,2"),
        (f"{HEADER}1,2,3,4\n", "variation.csv:2: expected start_ns,L_factor,G_factor, three numbers"),
        (f"{HEADER}1,2,x\n", "variation.csv:2: expected start_ns,L_factor,G_factor, three numbers, found 1,2,x"),
        (f"{HEADER}1,2,0\n", "variation.csv:2: expected factors above 0 and up to 1000000, found 1,2,0"),
        (f"{HEADER}1,nan,1\n", "variation.csv:2: expected factors above 0"),
        (f"{HEADER}1,1e7,1\n", "variation.csv:2: expected factors above 0 and up to 1000000"),
        (f"{HEADER}-1,1,1\n", "variation.csv:2: expected a start from 0 on, found -1,1,1"),
        (f"{HEADER}1,1,1\n1,2,1\n", "variation.csv:3: expected a start after that of the row before, found 1,2,1"),
        (f"{HEADER}1e30,1,1\n", "variation.csv:2: expected start_ns"),
    ],
)
def test_a_broken_file_of_factors_is_refused_with_its_line(tmp_path: Path, rows: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        machine_in(tmp_path, rows)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('period = "1us"', "network.variation.file: expected"),
        ('file = "missing.csv"', "missing.csv: cannot be read as a file of factors of L and G"),
        ('file = "../variation.csv"', "network.variation.file: expected a file below"),
        ('file = "variation.csv"\nperiod = "0us"', "network.variation.period: expected a time above 0, found 0"),
        ('file = "variation.csv"\nperiod = "-1us"', "network.variation.period: expected"),
        ('file = "variation.csv"\nperiod = "20ns"', "machine.toml: variation: row 2 begins at 30000 ps: expected less"),
        (
            'file = "variation.csv"\nphase = "random"',
            "network.variation.phase is not known here; expected file, from, period",
        ),
    ],
)
def test_an_impossible_table_is_refused_by_name(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        machine_in(tmp_path, f"{HEADER}10,1,1\n30,2,1\n", table)
    assert said in str(raised.value)


def test_a_machine_that_is_written_with_its_variation_is_read_as_the_same(tmp_path: Path) -> None:
    varying = Variation(np.array([1, 2_000_001]), np.array([1 / 3, 2.5]), np.array([0.1, 7]), 3_000_000, "here")
    machine = Machine.from_toml(NETWORK).with_variation(varying)

    def save(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)

    save("machine.toml", machine_toml(machine, save_factors=save))
    again = Machine.load(tmp_path / "machine.toml")
    assert again.variation == varying
    assert again.identity() == machine.identity()
    assert Machine.from_toml(machine.to_toml()).variation is None
