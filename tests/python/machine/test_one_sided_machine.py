"""A machine may have parameters of one-sided operations, which are read, written and refused as those of messages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from idlewave import InputError, Level, Machine, Parameters
from idlewave.provenance import parts_that_differ

NETWORK = '[network]\nL = "5.3us"\no = "2.3us"\ng = "2us"\nG = "2.5ns"\nO = "1ns"\nS = 65536\n'
ONE_SIDED = '[network.one_sided]\nL = "1.1us"\no = "0.2us"\ng = "0.3us"\nG = "0.1ns"\nO = "0.05ns"\n'
BY_CPU = ONE_SIDED + 'progress = "cpu"\n'
BY_CPU_ALONE = BY_CPU.replace("o =", "o_s =").replace("O =", "O_s =")
SEGMENT = "[[network.one_sided.segment]]\nfrom = 9\n"


def test_where_the_network_completes_one_sided_operations_the_target_has_no_overhead() -> None:
    machine = Machine.from_toml(NETWORK + ONE_SIDED + SEGMENT + 'o = "1us"\nO = "2ns"\n')
    assert machine.progress == "network"
    assert machine.one_sided is not None
    assert machine.one_sided.at(8) == Parameters(L=1_100_000, o_s=200_000, o_r=0, g=300_000, G=100.0, O_s=50.0)
    assert machine.one_sided.at(9) == Parameters(L=1_100_000, o_s=1_000_000, o_r=0, g=300_000, G=100.0, O_s=2000.0)
    assert machine.one_sided.eager_limit is None


def test_where_a_cpu_completes_them_the_target_has_the_overheads_that_are_named() -> None:
    both, origin = Machine.from_toml(NETWORK + BY_CPU), Machine.from_toml(NETWORK + BY_CPU_ALONE)
    own = Machine.from_toml(NETWORK + BY_CPU_ALONE + 'o_r = "7ns"\nO_r = "3ns"\n' + SEGMENT + 'o_r = "8ns"\n')
    assert both.progress == origin.progress == own.progress == "cpu"
    assert both.one_sided is not None
    assert origin.one_sided is not None
    assert own.one_sided is not None
    assert (both.one_sided.parameters.o_r, both.one_sided.parameters.O_r) == (200_000, 50.0)
    assert (origin.one_sided.parameters.o_r, origin.one_sided.parameters.O_r) == (0, 0.0)
    assert (own.one_sided.at(8).o_r, own.one_sided.at(9).o_r, own.one_sided.at(9).O_r) == (7_000, 8_000, 3000.0)


@pytest.mark.parametrize(
    "text",
    [
        ONE_SIDED,
        ONE_SIDED + SEGMENT + 'o = "1us"\nO = "2ns"\n',
        BY_CPU,
        BY_CPU_ALONE + 'O_r = "3ns"\n' + SEGMENT + 'o_r = "8ns"\nL = "9us"\n',
    ],
)
def test_what_is_written_is_the_same_machine(text: str) -> None:
    machine = Machine.from_toml(NETWORK.replace("[network]", '[network]\nc = "1us"') + text)
    again = Machine.from_toml(machine.to_toml())
    assert again == machine
    assert again.identity() == machine.identity()


def test_machines_that_differ_in_one_sided_operations_are_different_machines() -> None:
    without, network, cpu = (Machine.from_toml(NETWORK + text) for text in ("", ONE_SIDED, BY_CPU_ALONE))
    assert network.one_sided == cpu.one_sided
    assert len({without.identity(), network.identity(), cpu.identity()}) == 3
    assert parts_that_differ(network.provenance, cpu.provenance) == ["one-sided operations"]
    assert parts_that_differ(network.provenance, without.provenance) == ["one-sided operations"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ONE_SIDED.replace('L = "1.1us"\n', ""), r"network.one_sided.L: expected a time with a unit.*found nothing"),
        (ONE_SIDED.replace('g = "0.3us"\n', ""), r"network.one_sided.g: expected a time with a unit.*found nothing"),
        (ONE_SIDED.replace('G = "0.1ns"\n', ""), r"network.one_sided.G: expected a time with a unit.*found nothing"),
        (ONE_SIDED.replace('o = "0.2us"\n', ""), r"network.one_sided.o_s: expected a time with a unit.*found nothing"),
        (ONE_SIDED.replace('O = "0.05ns"\n', ""), r"network.one_sided.O_s: expected a time with a.*found nothing"),
        (ONE_SIDED + "S = 4\n", r"network.one_sided.S: expected nothing, since one-sided .* no rendezvous, found 4"),
        (ONE_SIDED + 'c = "1us"\n', r"network.one_sided.c: expected nothing, since .* have none, found 1us"),
        (BY_CPU + 'o_p = "1us"\n', r"network.one_sided.o_p: expected nothing, since .* have none, found 1us"),
        (ONE_SIDED + SEGMENT + 'c = "1us"\n', r"network.one_sided.segment\[0\].c: expected nothing, since"),
        (
            ONE_SIDED.replace("o =", "o_s =") + 'o_r = "1us"\n',
            r"network.one_sided.o_r: expected it only beside progress = 'cpu', found 1us",
        ),
        (
            ONE_SIDED + SEGMENT + 'O_r = "1.5ns"\n',
            r"network.one_sided.segment\[0\].O_r: expected it only beside progress = 'cpu', found 1.5ns",
        ),
        (ONE_SIDED + 'progress = "nic"\n', r"network.one_sided.progress: expected network or cpu, found 'nic'"),
        (ONE_SIDED + "ranks = 4\n", r"network.one_sided.ranks is not known here"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(text: str, expected: str) -> None:
    with pytest.raises(InputError, match=f"m.toml: {expected}"):
        Machine.from_toml(NETWORK + text, name="m.toml")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"one_sided": Level(Parameters(1, 1, 1, 1))}, "one_sided: expected o_r = 0 with progress network, found 1"),
        ({"one_sided": Level(Parameters(1, 1, 0, 1), eager_limit=3)}, "one_sided: expected no eager_limit, found 3"),
        ({"one_sided": Level(Parameters(1, 1, 0, 1, c=2)), "progress": "cpu"}, "one_sided: expected c = 0 with"),
        ({"progress": "cpu"}, "progress: expected network beside no one_sided, found 'cpu'"),
        ({"progress": "nic"}, "progress: expected one of network, cpu, found 'nic'"),
    ],
)
def test_a_program_cannot_give_parameters_that_play_no_role(changes: dict[str, object], expected: str) -> None:
    machine = replace(Machine.from_toml(NETWORK), **changes)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=expected):
        machine.core()


def test_between_nodes_one_sided_operations_have_the_parameters_of_the_other_machine() -> None:
    own = Machine.from_toml(NETWORK + ONE_SIDED)
    other = Machine.from_toml(NETWORK + BY_CPU)
    both = own.between(other, node_ranks=4)
    assert (both.one_sided, both.progress) == (other.one_sided, "cpu")
    plain = Machine.from_toml(NETWORK)
    assert plain.between(own, node_ranks=4).one_sided == own.one_sided
    assert other.between(plain, node_ranks=4).one_sided is None
    assert other.between(plain, node_ranks=4).progress == "network"
