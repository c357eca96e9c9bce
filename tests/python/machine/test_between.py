"""A machine says where its network was measured, and another network can lie between its nodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import click
import idlewave
import pandas as pd
import pytest
from click.testing import CliRunner
from idlewave import InputError, Machine, Provenance, UsageError
from idlewave.cli import cli
from idlewave.machine import Scope
from idlewave.machine_file.reader import scope_from_json
from idlewave.measure import FittedParameters, LogGP, NetworkMeasurement, Range, describe
from idlewave.measure.network.files.network_files import machine_of
from idlewave.measure.network.files.network_recording import described
from idlewave.measure.network.transports import Transport
from idlewave.report import Report, report_of
from idlewave.report.captions import run_time_caption, slowdown_caption
from idlewave.report.caveats import caveats
from idlewave.report.findings import machine_sentence, scale_sentence
from idlewave.report.setting import Setting
from report_samples import machine as made_machine
from report_samples import no_noise, study

PARAMETERS = 'L = "243ns"\no = "50ns"\ng = "60ns"\nG = "0.1ns"\nO = "0ns"\nS = "inf"\n'
WITHIN = f'name = "here"\n[network]\nmeasured = "within a node"\nranks = 4\n{PARAMETERS}'
BETWEEN = f'name = "far"\n[network]\nmeasured = "between nodes"\n{PARAMETERS.replace("243ns", "1.31us")}'
UNKNOWN = f'name = "old"\n[network]\n{PARAMETERS}'


@pytest.fixture
def here(tmp_path: Path) -> str:
    (tmp_path / "machine.toml").write_text(WITHIN)
    return str(tmp_path)


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def run(*arguments: str) -> click.testing.Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=True)


# The machine file


def test_a_machine_file_says_within_how_large_a_node_its_network_was_measured() -> None:
    machine = Machine.from_toml(WITHIN)
    assert (machine.measured, machine.node_ranks, machine.node) == ("within a node", 4, None)
    assert machine.scope.beyond_node(5)
    assert not machine.scope.beyond_node(4)


@pytest.mark.parametrize("text", [BETWEEN, UNKNOWN])
def test_no_number_of_ranks_is_beyond_a_node_that_was_not_measured_within(text: str) -> None:
    assert not Machine.from_toml(text).scope.beyond_node(10**6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WITHIN.replace("within a node", "here"), "network.measured: expected within a node or between nodes"),
        (
            WITHIN.replace('"within a node"', "1"),
            "network.measured: expected within a node or between nodes, found 1",
        ),
        (WITHIN.replace("ranks = 4\n", ""), "network.ranks: expected the ranks of the node"),
        (
            WITHIN.replace("ranks = 4", "ranks = 0"),
            "network.ranks: expected a whole number from 1 to",
        ),
        (
            BETWEEN.replace("[network]\n", "[network]\nranks = 4\n"),
            "network.ranks: .*beside measured = 'within a node'",
        ),
        (
            UNKNOWN.replace("[network]\n", "[network]\nranks = 4\n"),
            "network.ranks: .*beside measured = 'within a node'",
        ),
        (WITHIN + "[network.node]\nranks = 2\n", r"network.measured: expected 'between nodes' beside \[network.node\]"),
        (BETWEEN.replace("[network]\n", "[network]\nname = 3\n"), "network.name: expected a text, found 3"),
        ("description = 3\n" + BETWEEN, "description: expected a text, found 3"),
    ],
)
def test_what_makes_no_sense_there_is_named_with_its_key(text: str, expected: str) -> None:
    with pytest.raises(InputError, match=f"m.toml: {expected}"):
        Machine.from_toml(text, name="m.toml")


@pytest.mark.parametrize("text", [WITHIN, BETWEEN, UNKNOWN, f'description = "a \\"b\\""\n{BETWEEN}'])
def test_where_a_machine_was_measured_is_written_again(text: str) -> None:
    machine = Machine.from_toml(text)
    assert Machine.from_toml(machine.to_toml()) == machine


# Two networks


def test_a_network_between_nodes_makes_the_machines_own_that_of_a_node() -> None:
    here, far = Machine.from_toml(WITHIN), Machine.from_toml(BETWEEN)
    both = here.between(far)
    assert (both.node, both.node_ranks, both.network) == (here.network, 4, far.network)
    assert (both.measured, both.network_name) == ("between nodes", "far")
    assert Machine.from_toml(both.to_toml()) == both
    assert here.between(far, node_ranks=7).node_ranks == 7
    assert here.between("infiniband-hdr").network == Machine.preset("infiniband-hdr").network


def test_the_noise_stays_that_of_the_machine() -> None:
    noise = Machine.from_toml(WITHIN + '[noise]\nkind = "periodic"\nperiod = "1ms"\nlength = "1us"\n').noise
    both = Machine.from_toml(WITHIN).with_noise(noise).between(Machine.from_toml(BETWEEN))
    assert both.noise is noise


def test_messages_within_a_node_take_what_they_took_and_those_between_what_the_other_network_takes() -> None:
    here, far = Machine.from_toml(WITHIN), Machine.from_toml(BETWEEN)

    def time(machine: Machine, peer: int) -> int:
        does = {0: f"a: send 8b to {peer}", peer: "b: recv 8b from 0"}
        goal = "num_ranks 6\n" + "".join(f"rank {r} {{\n{does.get(r, 'c: calc 0')}\n}}\n" for r in range(6))
        return idlewave.simulate(idlewave.Schedule.from_goal(goal), machine).max_finish

    both = here.between(far)
    assert time(both, 3) == time(here, 3) < time(far, 3)
    assert time(both, 4) == time(far, 4)


def test_the_shared_buffer_of_a_node_stays_within_it() -> None:
    here = Machine.from_toml(WITHIN + '[network.shared_buffer]\nL = "1ns"\n')
    both = here.between(Machine.from_toml(BETWEEN))

    def barrier(machine: Machine, ranks: int) -> int:
        schedule = idlewave.Schedule.pattern("barrier", ranks=ranks, algorithm="release_gather")
        return idlewave.simulate(schedule, machine).max_finish

    assert barrier(both, 4) == barrier(here, 4) == 2000
    assert barrier(both, 5) > barrier(here, 5) == 2000


@pytest.mark.parametrize(
    ("here", "far", "ranks", "expected"),
    [
        (BETWEEN, BETWEEN, None, "'far' was measured between nodes: expected a machine measured within a node"),
        (WITHIN, WITHIN, None, "'here' was measured within a node: expected a network measured between nodes"),
        (WITHIN, BETWEEN + "[network.node]\nranks = 2\n", None, r"'far' has a network within nodes, too"),
        (UNKNOWN + "[network.node]\nranks = 2\n", BETWEEN, None, "'old' has a network between nodes already"),
        (UNKNOWN, BETWEEN, None, "how many ranks a node of 'old' has is not known: expected --node-ranks"),
        (WITHIN, BETWEEN, 0, "expected nodes of at least 1 rank, found 0"),
    ],
)
def test_networks_that_make_no_machine_together_are_refused(
    here: str, far: str, ranks: int | None, expected: str
) -> None:
    with pytest.raises(UsageError, match=expected):
        Machine.from_toml(here).between(Machine.from_toml(far), node_ranks=ranks)


def test_a_machine_of_which_nothing_is_known_takes_a_network_between_nodes_of_so_many_ranks() -> None:
    assert Machine.from_toml(UNKNOWN).between(Machine.from_toml(UNKNOWN), node_ranks=3).node_ranks == 3


# What measuring writes


def measured(probe: dict[str, object], cores: int | None = 8) -> NetworkMeasurement:
    """Any fit, and this said of its run."""
    values = dict.fromkeys(("L", "o_s", "o_r", "g", "G", "O"), 1000.0)
    intervals = dict.fromkeys(values, (900.0, 1100.0))
    one = Range(1, False, FittedParameters(**values), intervals, (), 0.0, 0.0, {})
    fit = LogGP((one,), None, pd.DataFrame(), pd.DataFrame(), 10, 10, ())
    return NetworkMeasurement(pd.DataFrame(), fit, probe, describe() | {"cores": cores})


@pytest.mark.parametrize(
    ("probe", "cores", "expected", "place"),
    [
        ({"same_node": True}, 8, ['measured = "within a node"', "ranks = 8"], "within one node (shared memory)"),
        (
            {"same_node": True, **described(Transport("tcp", needs_mpi=False, rendezvous=False, shared_memory=False))},
            8,
            ['measured = "within a node"', "ranks = 8"],
            "within one node (tcp)",
        ),
        ({"same_node": False}, 8, ['measured = "between nodes"'], "between two nodes"),
        ({"ranks": [{"host": "a"}, {"host": "b"}]}, 8, ['measured = "between nodes"'], "between two nodes"),
        (
            {"ranks": [{"host": "a"}, {"host": "a"}]},
            8,
            ['measured = "within a node"', "ranks = 8"],
            "within one node (shared memory)",
        ),
        ({"same_node": True}, None, [], "within one node (shared memory)"),
        ({}, 8, [], ""),
        ({"same_node": None, "ranks": [{"host": ""}, {"host": ""}]}, 8, [], ""),
    ],
)
def test_measuring_writes_where_the_ranks_were(
    probe: dict[str, object], cores: int | None, expected: list[str], place: str
) -> None:
    found = measured(probe, cores)
    assert found.place == place
    text = machine_of("here", found).to_toml()
    assert re.findall(r"^(?:measured|ranks) = .*$", text, flags=re.MULTILINE) == expected
    assert Machine.from_toml(text).measured == (expected[0].split('"')[1] if expected else None)


# The commands


COMMANDS = [
    ("simulate", "dissemination", "--ranks", "{ranks}"),
    ("explain", "dissemination", "--ranks", "{ranks}", "--no-tolerance"),
    ("timeline", "dissemination", "--ranks", "{ranks}", "-o", "{folder}/ops.parquet"),
    ("study", "{folder}/ring-{ranks}.goal", "-o", "{folder}/study.parquet"),
]


@pytest.fixture(params=COMMANDS, ids=[command[0] for command in COMMANDS])
def command(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., click.testing.Result]:
    """Runs one of the commands that simulate on so many ranks, with further arguments."""
    for n in (4, 8):
        ring = "".join(
            f"rank {r} {{\na: send 8b to {(r + 1) % n}\nb: recv 8b from {(r - 1) % n}\n}}\n" for r in range(n)
        )
        (tmp_path / f"ring-{n}.goal").write_text(f"num_ranks {n}\n{ring}")

    def invoke(ranks: int, *more: str) -> click.testing.Result:
        return run(*(part.format(ranks=ranks, folder=tmp_path) for part in request.param), *more)

    return invoke


def test_more_ranks_than_the_measured_node_has_are_noted_once_with_what_helps(command, here) -> None:
    done = command(8, "-m", here)
    assert done.exit_code == 0, done.output
    assert [line for line in done.stderr.splitlines() if line.startswith("note:")] == [
        "note: the network of here was measured within a node of 4 ranks, and 8 ranks are simulated as if they were on "
        "one; --between PRESET puts a network between nodes (idlewave machines lists them)"
    ]


def test_ranks_that_fit_into_the_measured_node_are_simulated_without_a_word(command, here) -> None:
    done = command(4, "-m", here)
    assert done.exit_code == 0, done.output
    assert "note:" not in done.stderr


@pytest.mark.parametrize("far", ["infiniband-hdr", "{folder}/far.toml", "{folder}/far"])
def test_a_network_between_nodes_is_a_preset_a_file_or_a_folder(command, here, far: str, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    for name in ("far.toml", "far/machine.toml"):
        (tmp_path / name).write_text(BETWEEN)
    done = command(8, "-m", here, "--between", far.format(folder=tmp_path))
    assert done.exit_code == 0, done.output
    assert "note:" not in done.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--node-ranks", "4"), "--node-ranks belongs to --between"),
        (("--between", "nowhere"), "nowhere: expected a file, a folder, or a preset"),
        (("--between", "odin", "-m", "odin"), "'odin' was measured between nodes"),
        (("--between", "{here}"), "'here' was measured within a node"),
    ],
)
def test_what_cannot_lie_between_nodes_is_refused(here: str, more: tuple[str, ...], words: str) -> None:
    done = run("simulate", "dissemination", "--ranks", "8", "-m", here, *(part.format(here=here) for part in more))
    assert done.exit_code != 0
    assert words in str(done.exception)


def test_the_simulated_time_is_that_of_the_two_levels(here: str) -> None:
    def finish(*more: str) -> str:
        return run("simulate", "dissemination", "--ranks", "8", "-m", here, "--json", *more).stdout.split(",")[0]

    far = finish("--between", "infiniband-hdr", "--node-ranks", "1")
    near = finish("--between", "infiniband-hdr", "--node-ranks", "8")
    assert near == finish()
    assert far != near
    assert (
        far == run("simulate", "dissemination", "--ranks", "8", "-m", "infiniband-hdr", "--json").stdout.split(",")[0]
    )


def test_a_study_keeps_which_networks_lay_between_its_ranks(here: str, tmp_path: Path) -> None:
    (tmp_path / "calc.goal").write_text("num_ranks 2\nrank 0 {\na: calc 5\n}\nrank 1 {\na: calc 5\n}\n")
    file = tmp_path / "study.parquet"
    done = run("study", str(tmp_path / "calc.goal"), "-m", here, "--between", "infiniband-hdr", "-o", str(file))
    assert done.exit_code == 0, done.output
    assert (
        report_of(None, None, None, pd.read_parquet(file)).scope
        == Machine.load(Path(here) / "machine.toml").between(Machine.preset("infiniband-hdr")).scope
    )


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ([], "study: scope: expected"),
        ({"latency": 1, "measured": "here"}, "study: scope.measured: expected within a node or between nodes"),
        ({"latency": "1us"}, "study: scope.latency: expected a whole number"),
        ({"latency": 1, "node_ranks": 0}, "study: scope.node_ranks: expected a whole number from 1"),
        ({"latency": 1, "colour": 0}, "study: scope.colour is not known here"),
    ],
)
def test_a_scope_of_another_form_is_refused(scope: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        scope_from_json(scope, "study")


# The report


def over(largest: int = 16384) -> pd.DataFrame:
    """A study of four and of so many ranks."""
    return study({4: (0.003, 0.0006), largest: (0.05, 0.002)})


def extrapolation(scope: Scope | None, largest: int = 16384) -> str:
    """What the report says beside such a study, whose messages went over these networks."""
    said = {} if scope is None else {"scope": asdict(scope)}
    report = Report(study=over(largest), study_provenance=Provenance("machine", options=said))
    (text,) = (c.text for c in caveats(report) if c.topic == "Extrapolation")
    return plain(text)


HERE = Machine.from_toml(WITHIN)
BOTH = HERE.between(Machine.from_toml(BETWEEN))


@pytest.mark.parametrize(
    ("scope", "largest", "words"),
    [
        (
            BOTH.scope,
            16384,
            "messages within a node of 4 ranks have L = 243 ns, those between nodes L = 1.31 µs of far",
        ),
        (
            HERE.scope,
            16384,
            "all messages have L = 243 ns as on one node of 4 ranks, and no network between nodes is in",
        ),
        (Machine.from_toml(BETWEEN).scope, 64, "all messages have L = 1.31 µs, as between nodes"),
        (replace(HERE, node_ranks=64).scope, 64, "all ranks are on one node"),
        (replace(BOTH, node_ranks=64).scope, 64, "all ranks are on one node"),
    ],
)
def test_the_networks_are_said_where_the_slowdown_is(scope: Scope, largest: int, words: str) -> None:
    data, setting = over(largest), Setting(scope=scope)
    sentence = words[0].upper() + words[1:]
    assert words in plain(scale_sentence(data, scope=scope))
    assert sentence in plain(slowdown_caption(data, setting))
    assert sentence in plain(run_time_caption(data, setting, measured=(4, 1.52)))
    assert sentence in extrapolation(scope, largest)


def test_whose_network_lies_between_nodes_is_said() -> None:
    assert extrapolation(BOTH.scope).endswith("The network of far was not measured on this machine.")


def test_a_study_that_does_not_tell_its_networks_is_said_to() -> None:
    assert extrapolation(None).endswith("Over which networks its messages went, the study does not say.")
    assert "messages have" not in scale_sentence(over())


def test_a_slowdown_that_is_negligible_says_its_networks_too() -> None:
    data = study({4: (0.0, 0.0), 64: (0.0, 0.0)})
    assert "negligible; messages within a node of 4 ranks" in plain(scale_sentence(data, scope=BOTH.scope))


def test_latency_is_said_with_where_it_was_measured() -> None:
    text = plain(machine_sentence(no_noise(), made_machine(), "within one node (shared memory)"))
    assert "L = 95 ns of latency within one node (shared memory), o_s" in text
    assert "of latency, o_s" in plain(machine_sentence(no_noise(), made_machine()))


def test_a_scope_is_read_back_as_it_was() -> None:
    for machine in (HERE, BOTH, Machine.from_toml(UNKNOWN)):
        assert scope_from_json(asdict(machine.scope), "study") == machine.scope
