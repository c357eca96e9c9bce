"""A machine is read exactly as it is written, and what is wrong is named with its place."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from idlewave import (
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    InputError,
    Level,
    LognormalLength,
    Machine,
    MixedNoise,
    Noise,
    Parameters,
    ParetoLength,
    PoissonNoise,
    Segment,
    UniformLength,
)
from idlewave.detour_file import detours_csv
from idlewave.machine_file.writer import machine_toml, noise_toml
from idlewave.noise_models import REACHES
from idlewave.provenance import parts_that_differ
from idlewave.units import exact_time, format_time, parse_cost, parse_time

if TYPE_CHECKING:
    from idlewave.noise_models import Times

GOOD = '[network]\nL = "5.3us"\no = "2.3us"\ng = "2us"\nG = "2.5ns"\nO = "1ns"\nS = 65536\n'
SHARED = '[network.shared_buffer]\nL = "0.17us"\nO_r = "0.09ns"\n'


def test_times_and_costs_are_read_in_their_units() -> None:
    network = Machine.from_toml(GOOD).network
    assert network.parameters.L == 5_300_000
    assert network.parameters.o_s == network.parameters.o_r == 2_300_000
    assert network.parameters.G == 2500.0
    assert network.eager_limit == 65536


def test_S_may_be_inf_so_that_every_message_is_eager() -> None:
    assert Machine.from_toml(GOOD.replace("65536", '"inf"')).network.eager_limit is None


def test_a_segment_keeps_what_it_does_not_name() -> None:
    text = GOOD + '[[network.segment]]\nfrom = 100\ng = "9us"\n[[network.segment]]\nfrom = 200\nL = "1us"\n'
    network = Machine.from_toml(text).network
    assert network.at(99).g == 2_000_000
    assert network.at(100).g == 9_000_000
    assert network.at(200).g == 9_000_000
    assert network.at(200).L == 1_000_000
    assert network.at(200).o_s == 2_300_000


def test_the_costs_of_messages_by_size_are_those_of_their_segments_in_whole_picoseconds() -> None:
    few, many = (
        Parameters(L=50, o_s=7, o_r=9, g=12, G=1.5, O_s=0.25, O_r=0.5),
        Parameters(L=60, o_s=8, o_r=9, g=5, G=2.0),
    )
    found = Level(few, (Segment(100, many),)).costs(np.array([0, 1, 2, 3, 99, 100], dtype=np.uint64))
    assert found.over_s.tolist() == [0, 0, 0, 1, 25, 0]
    assert found.over_r.tolist() == [0, 0, 1, 1, 49, 0]
    assert found.bytes.tolist() == [0, 0, 2, 3, 147, 198]
    assert found.gap.tolist() == [12, 12, 14, 15, 159, 203]
    assert [(int(s), int(r), int(L)) for s, r, L in zip(found.o_s, found.o_r, found.L, strict=True)] == [
        *(5 * [(7, 9, 50)]),
        (8, 9, 60),
    ]


def test_a_node_level_inherits_from_the_network() -> None:
    machine = Machine.from_toml(GOOD + '[network.node]\nranks = 16\nL = "0.4us"\n')
    assert machine.node is not None
    assert machine.node_ranks == 16
    assert machine.node.parameters.L == 400_000
    assert machine.node.parameters.g == 2_000_000
    assert machine.node.eager_limit == 65536


def test_what_a_shared_buffer_does_not_name_is_0_and_its_messages_are_always_eager() -> None:
    machine = Machine.from_toml(GOOD + SHARED + '[[network.shared_buffer.segment]]\nfrom = 8064\nL = "3us"\n')
    assert machine.shared_buffer is not None
    assert machine.shared_buffer.at(8063) == Parameters(L=170_000, o_s=0, o_r=0, g=0, O_r=90.0)
    assert machine.shared_buffer.at(8064) == Parameters(L=3_000_000, o_s=0, o_r=0, g=0, O_r=90.0)
    assert machine.shared_buffer.eager_limit is None
    assert Machine.from_toml(machine.to_toml()) == machine


def test_machines_that_differ_in_the_shared_buffer_are_different_machines() -> None:
    with_buffer, without = Machine.from_toml(GOOD + SHARED), Machine.from_toml(GOOD)
    assert with_buffer.identity() != without.identity()
    assert parts_that_differ(with_buffer.provenance, without.provenance) == ["shared buffer"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD + "[network.shared_buffer]\n", r"network.shared_buffer.L: expected a time with a unit"),
        (GOOD + SHARED + "S = 4\n", r"network.shared_buffer.S: expected nothing, since its messages are always eager"),
        ("", r"m.toml: network: expected a table \[network\], found nothing"),
        ("[network", "m.toml: not TOML"),
        (GOOD.replace('"5.3us"', '"5.3"'), r"network.L: expected a time with a unit"),
        (GOOD.replace('"5.3us"', "5.3"), r"network.L: expected a time with a unit.*found 5.3"),
        (GOOD.replace('"5.3us"', '"-5.3us"'), r"network.L: expected a time that is not negative"),
        (GOOD.replace("65536", "-1"), r"network.S: expected a whole number from 0 on"),
        (GOOD.replace("65536", "true"), r"network.S"),
        (GOOD.replace('g = "2us"\n', ""), r"network.g: expected a time with a unit.*found nothing"),
        (GOOD + 'o_s = "1us"\n', r"network.o: expected either o, or o_s and o_r"),
        (GOOD + 'latency = "1us"\n', r"network.latency is not known here"),
        (GOOD + '[[network.segment]]\ng = "1us"\n', r"network.segment\[0\].from"),
        (
            GOOD + "[[network.segment]]\nfrom = 9\n[[network.segment]]\nfrom = 9\n",
            r"network.segment\[1\].from: expected more than",
        ),
        (GOOD + "[network.node]\nranks = 0\n", r"network.node.ranks: expected a whole number from 1"),
        (GOOD + '[noise]\nkind = "loud"\n', r"noise.kind: expected one of none, trace, periodic"),
        (GOOD + '[noise]\nkind = "trace"\nfile = "missing.csv"\nperiod = "1s"\n', r"missing.csv: cannot be read"),
        (GOOD + '[noise]\nkind = "periodic"\nperiod = "1ms"\nlength = "1ms"\n', r"noise: the detours fill the whole"),
        (GOOD + '[noise]\nkind = "periodic"\nperiod = "0s"\nlength = "0s"\n', r"noise: expected a period above 0"),
        (GOOD + '[noise]\nkind = "periodic"\nperiod = "1s"\nlength = "1us"\nphase = "odd"\n', r"noise.phase"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(text: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        Machine.from_toml(text, name="m.toml")


def test_a_trace_of_detours_is_read_to_the_picosecond(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("start_ns,length_ns\n1.5,0.25\n1000,20\n")
    text = GOOD + '[noise]\nkind = "trace"\nfile = "n.csv"\nperiod = "1ms"\nphase = ["0s", "3us"]\n'
    (tmp_path / "m.toml").write_text(text)
    noise = Machine.load(tmp_path / "m.toml").noise
    assert noise is not None
    assert noise.starts.tolist() == [1500, 1_000_000]
    assert noise.lengths.tolist() == [250, 20_000]
    assert noise.phase == (0, 3_000_000)
    assert noise.overhead == pytest.approx(20_250 / 1e9)


@pytest.mark.parametrize(
    ("csv", "expected"),
    [
        ("", "n.csv:1: expected the header"),
        ("start,length\n", "n.csv:1: expected the header"),
        ("start_ns,length_ns\n1,2\n3\n", "n.csv:3: expected start_ns,length_ns"),
        ("start_ns,length_ns\n1,x\n", "n.csv:2: expected start_ns,length_ns, found 1,x"),
        ("start_ns,length_ns\n-1,2\n", "n.csv:2: expected times that are not negative"),
        ("start_ns,length_ns\n10,5\n12,5\n", "detour 2 begins at 12000 ps"),
        ("start_ns,length_ns\n999,5\n", "detour 1 does not end within the period"),
    ],
)
def test_a_broken_file_of_detours_is_named_with_its_line(tmp_path: Path, csv: str, expected: str) -> None:
    (tmp_path / "n.csv").write_text(csv)
    text = GOOD + '[noise]\nkind = "trace"\nfile = "n.csv"\nperiod = "1us"\n'
    with pytest.raises(InputError, match=expected):
        Machine.from_toml(text, folder=tmp_path)


@pytest.mark.parametrize("name", Machine.presets())
def test_every_preset_can_be_loaded_and_written_again(name: str) -> None:
    machine = Machine.preset(name)
    assert Machine.from_toml(machine.to_toml()) == machine


@pytest.mark.parametrize("name", ['a "b" \\ c', "two\nlines\t\x7f", "Jülich \U0001f4bb", ""])
def test_a_machine_of_any_name_can_be_written_again(name: str) -> None:
    machine = replace(Machine.from_toml(GOOD), name=name)
    assert Machine.from_toml(machine.to_toml()) == machine


NOISES = {
    "a trace": Noise(np.array([10, 500]), np.array([20, 30]), 1000, "same"),
    "a trace with phases": Noise(np.array([10]), np.array([20]), 1000, (0, 7)),
    "fixed": PoissonNoise(1e9, FixedLength(1_234_567)),
    "exponential": PoissonNoise(1e9, ExponentialLength(2e6, 1e3)),
    "uniform": PoissonNoise(1e9, UniformLength(5, 77), "same"),
    "lognormal": PoissonNoise(1e9, LognormalLength(3e6, 0.25)),
    "pareto": PoissonNoise(1e9, ParetoLength(1e6, 1.5)),
    "empirical": PoissonNoise(1e9, EmpiricalLength(np.array([5, 3, 9]))),
    "a mixture": MixedNoise(
        Noise(np.array([10]), np.array([20]), 1000),
        (PoissonNoise(1e9, FixedLength(5)), PoissonNoise(2e9, EmpiricalLength(np.array([1, 2])))),
    ),
}


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("reaches", [("calc",), REACHES])
def test_a_machine_is_written_with_its_noise_and_read_back_as_it_was(
    kind: str, reaches: tuple[str, ...], tmp_path: Path
) -> None:
    machine = replace(Machine.preset("odin"), noise=NOISES[kind], noise_reaches=reaches)

    def save(name: str, starts: Times, lengths: Times) -> None:
        (tmp_path / name).write_text(detours_csv(starts, lengths))

    (tmp_path / "machine.toml").write_text(machine_toml(machine, save))
    again = Machine.load(tmp_path / "machine.toml")
    assert again.identity() == machine.identity()
    assert (again.noise_reaches, again.network) == (reaches, machine.network)
    (tmp_path / "noise.toml").write_text(noise_toml(NOISES[kind], save, reaches))
    tables = [tomllib.loads((tmp_path / name).read_text())["noise"] for name in ("noise.toml", "machine.toml")]
    assert tables[0] == tables[1]


def test_comments_stand_where_their_key_is() -> None:
    machine = Machine.from_toml(GOOD + '[[network.segment]]\nfrom = 100\ng = "9us"\n')
    comments = {"network": "here", "network.L": "95 %", "network.segment[0]": "eager", "network.segment[0].from": "97"}
    lines = machine_toml(machine, comments=comments).splitlines()
    assert lines[lines.index("[network]") - 1] == "# here"
    assert 'L = "5.3us"         # 95 %' in lines
    assert "[[network.segment]] # eager" in lines
    assert "from = 100          # 97" in lines
    assert Machine.from_toml("\n".join(lines)) == machine


def test_an_unknown_preset_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match="odin"):
        Machine.preset("titan")


def test_noise_that_overlaps_is_refused_when_it_is_used() -> None:
    noise = Noise(np.array([0, 5]), np.array([10, 10]), 100)
    with pytest.raises(InputError, match="detour 2"):
        Machine.preset("odin").with_noise(noise).core()


def test_units_lose_nothing() -> None:
    for picoseconds in (0, 1, 999, 1000, 1_300_000, 123_456_789_012, 10**12 + 1):
        assert parse_time(exact_time(picoseconds)) == picoseconds
    assert parse_cost("12.5ps") == 12.5
    assert parse_time("1.0005ns") == 1001
    assert format_time(1_300_000) == "1.3us"
    with pytest.raises(ValueError, match="'3 parsecs'"):
        parse_time("3 parsecs")
