"""A back end's parameters become the table [network.one_sided] of a machine.toml, and nothing else in it changes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from command_runs import run_command
from idlewave.errors import InputError, MeasurementError
from idlewave.machine import Machine
from idlewave.machine_file.writer import machine_toml
from idlewave.measure.one_sided import OneSidedFit, OneSidedMeasurement, fit_one_sided, read_one_sided
from idlewave.measure.one_sided.fit import times_of
from idlewave.measure.one_sided.machine_table import (
    check_machine,
    one_sided_of,
    table_toml,
    write_into_machine,
    write_new_machine,
)
from idlewave.units import parse_cost, parse_time
from numpy import array
from one_sided_recordings import MESSAGES, NETWORK, USUAL, Known, epochs_recorded, recorded, rows_of, write

DEAR = Known(o=2_000_000, L=3_000_000, g=2_500_000, G=30.0, O=5.0)
MACHINE = """# of somewhere
name = "x"

[network]
L = "5us"     # a comment that stays
o = "1us"
g = "2us"
[[network.segment]]
from = 4096
g = "9us"
"""
NOISE = """
[noise]
kind = "periodic"
interval = "1ms"
length = "10us"
phase = "same"
"""


def measured(folder: Path) -> tuple[OneSidedMeasurement, dict[str, OneSidedFit]]:
    recorded(folder / "raw", {"mpi": [(0, MESSAGES)], "rma": [(0, NETWORK), (4096, DEAR)]})
    found = read_one_sided(folder / "raw")
    return found, {name: fit_one_sided(found, name) for name in found.back_ends}


def put_ps(table: dict[str, str], size: int) -> float:
    """A put with its completion by the values of a table, as the rules have it."""
    k = max(size - 1, 0)
    L, o, g = (parse_time(table[name]) for name in ("L", "o_s", "g"))
    G, O = (parse_cost(table[name]) for name in ("G", "O_s"))  # noqa: E741 - LogGP's letters
    return max(o + 2 * L + k * G, o + k * O, g + k * G)


def test_the_table_says_what_was_measured(tmp_path: Path) -> None:
    found, fits = measured(tmp_path)
    table = tomllib.loads(table_toml(fits["rma"], found))["network"]["one_sided"]
    assert table["progress"] == "network"
    assert "o_r" not in table
    assert [segment["from"] for segment in table["segment"]] == [4096]
    for size in (0, 1, 64, 1024):
        assert put_ps(table, size) == pytest.approx(NETWORK.put(max(size - 1, 0)), rel=1e-4)
    for size in (4096, 65536):
        assert put_ps(table["segment"][0], size) == pytest.approx(DEAR.put(size - 1), rel=1e-4)
        assert put_ps(table["segment"][0], size) == pytest.approx(times_of(fits["rma"].ranges, array([size]))[0, 0])


def test_a_library_whose_puts_need_the_target_has_its_cpu_in_the_parameters(tmp_path: Path) -> None:
    write(tmp_path, rows_of({"rma": [(0, NETWORK)]}, waits=True), ["rma"])
    found = read_one_sided(tmp_path)
    table = tomllib.loads(table_toml(fit_one_sided(found, "rma"), found))["network"]["one_sided"]
    assert (table["progress"], table["o_r"], table["O_r"]) == ("cpu", "0ps", "0ns")


def test_the_table_has_the_lines_of_any_machine_that_is_written(tmp_path: Path) -> None:
    found, fits = measured(tmp_path)
    file = tmp_path / "machine.toml"
    write_new_machine(file, found, fits["mpi"], fits["rma"], "pair")
    own = table_toml(fits["rma"], found)
    lines = own[own.index("[network.one_sided]") :]
    assert lines.count("[[network.one_sided.segment]]") == 1
    assert lines in machine_toml(Machine.load(file))


def test_intervals_stand_behind_the_values(tmp_path: Path) -> None:
    epochs_recorded(tmp_path, USUAL)
    found = read_one_sided(tmp_path)
    text = table_toml(fit_one_sided(found, "rma"), found)
    assert all("# 95" in line for line in text.splitlines() if line.startswith(("L =", "o_s =", "g =", "G =", "O_s =")))


@pytest.mark.parametrize("after", ["", NOISE])
def test_it_is_put_into_a_machine_beside_the_network_and_again_in_its_own_stead(after: str, tmp_path: Path) -> None:
    found, fits = measured(tmp_path)
    file = tmp_path / "m.toml"
    file.write_text(MACHINE + after)
    write_into_machine(file, fits["rma"], found)
    once = file.read_text()
    assert once.startswith((MACHINE + after).rstrip())
    tables = tomllib.loads(once)
    assert tables["network"].pop("one_sided")["progress"] == "network"
    assert tables == tomllib.loads(MACHINE + after)
    write_into_machine(file, fits["rma"], found)
    assert file.read_text() == once


def test_a_table_of_another_that_stands_between_others_is_replaced(tmp_path: Path) -> None:
    found, fits = measured(tmp_path)
    file = tmp_path / "m.toml"
    own = '\n[network.one_sided]\nL = "1us"\n[[network.one_sided.segment]]\nfrom = 8\nL = "2us"\n'
    file.write_text(MACHINE + own + NOISE)
    write_into_machine(file, fits["rma"], found)
    tables = tomllib.loads(file.read_text())
    assert tables["noise"] == tomllib.loads(NOISE)["noise"]
    assert tables["network"]["one_sided"]["segment"][0]["from"] == 4096


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "x"\n', r"expected a machine with a table \[network\], found none"),
        ("name =\n", "m.toml: Invalid value"),
        (
            '[network]\nL = "1us"\none_sided = { L = "1us" }\n',
            r"expected the one-sided network as \[network.one_sided\]",
        ),
    ],
)
def test_a_file_that_is_no_machine_or_says_it_otherwise_is_left_alone(text: str, said: str, tmp_path: Path) -> None:
    found, fits = measured(tmp_path)
    file = tmp_path / "m.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        write_into_machine(file, fits["rma"], found)
    assert file.read_text() == text


def test_a_new_machine_has_the_messages_of_the_pair_as_its_network(tmp_path: Path) -> None:
    found, fits = measured(tmp_path)
    file = tmp_path / "machine.toml"
    write_new_machine(file, found, fits["mpi"], fits["rma"], "pair")
    text = file.read_text()
    assert tomllib.loads(text)["network"]["one_sided"]["progress"] == "network"
    messages = Machine.from_toml(text[: text.index("# One-sided")])
    assert messages.name == "pair"
    assert messages.network.parameters.o_s == MESSAGES.o
    assert check_machine(file) == text


def test_the_first_one_sided_back_end_is_the_machines_unless_another_is_named(tmp_path: Path) -> None:
    _, fits = measured(tmp_path)
    assert one_sided_of(fits, None).back_end == "rma"
    with pytest.raises(MeasurementError, match="found rma"):
        one_sided_of(fits, "shmem")
    with pytest.raises(MeasurementError, match="found none"):
        one_sided_of({"mpi": fits["mpi"]}, None)


def test_the_command_shows_a_recording_and_writes_machine_and_pictures(tmp_path: Path) -> None:
    recorded(tmp_path / "raw")
    (tmp_path / "m.toml").write_text(MACHINE)
    words = "measure one-sided --from raw -o out --machine m.toml --plot x.png --name pair"
    done = run_command(words.split(), tmp_path)
    assert done.status == 0, done.complained
    assert "A put by the parameters is within" in done.complained + done.printed
    for name in ("out/machine.toml", "x.png", "x-flood.png", "x-overlap.png"):
        assert (tmp_path / name).stat().st_size > 0
    for name in ("out/machine.toml", "m.toml"):
        assert "one_sided" in tomllib.loads((tmp_path / name).read_text())["network"]
    done = run_command(["measure", "one-sided", "--from", "raw", "--json"], tmp_path)
    said = json.loads(done.printed)
    assert set(said["parameters"]) == {"mpi", "rma"}
    assert said["parameters"]["rma"]["ranges"][0]["o"] == NETWORK.o
    assert {row["back_end"] for row in said["times"]} == {"mpi", "rma"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--from raw --seconds 1 --back-ends mpi", "--back-ends, --seconds"),
        ("--from raw --parameters-of rma", "no machine is written without -o or --machine"),
        ("--from raw --name x", "no machine is written without -o"),
        ("--from raw --machine none.toml", "none.toml"),
        ("--from raw -o out --parameters-of gasnet", "expected a one-sided back end that was measured"),
    ],
)
def test_options_that_cannot_be_met_are_refused_by_name(words: str, said: str, tmp_path: Path) -> None:
    recorded(tmp_path / "raw")
    done = run_command(["measure", "one-sided", *words.split()], tmp_path)
    assert done.status != 0
    assert said in done.complained
