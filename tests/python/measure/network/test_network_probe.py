"""The network probe over an emulated network: its samples are the rules', and it finds what was planted.

Nothing here needs a quiet machine: the emulated network's clock is virtual.
"""

from __future__ import annotations

import idlewave
import numpy as np
import pytest
from emulated_samples import as_toml, exchange_as_goal, parameters
from idlewave.measure import FittedParameters, Network
from long_cases import most_long
from network_probe import (
    COMPILER,
    PROGRAM,
    assess,
    changes,
    emulate,
    emulated_program,
    random_network,
    run,
    write_network,
)
from prtt_rules import prtt

pytestmark = pytest.mark.skipif(
    not PROGRAM.exists() or COMPILER is None, reason="no idlewave-loggp-local, or no compiler for the emulated network"
)

# Published assessments (docs/measuring.md): L, o, g in µs, G in µs per byte, by the first size they hold for.
PUBLISHED = {
    "TCP over Gigabit Ethernet": {1: (45.74, 3.46, 0.915, 0.00849)},
    "SCI": {1: (5.48, 6.10, 7.78, 0.0045), 12289: (5.48, 6.10, 13.34, 0.0037)},
    "InfiniBand": {1: (5.96, 4.72, 5.14, 0.00073), 12289: (5.96, 4.72, 21.39, 0.00103)},
    "Myrinet": {1: (10.53, 1.27, 9.44, 0.0092), 32769: (10.53, 1.27, 52.01, 0.0042)},
}


def published(name, rendezvous=None):
    ranges = [(first, parameters(L, o, o, g, G)) for first, (L, o, g, G) in PUBLISHED[name].items()]
    return Network(tuple(ranges), rendezvous)


@pytest.mark.parametrize("seed", range(12))
def test_every_prtt_of_the_emulated_network_is_the_rules(seed, tmp_path):
    network = random_network(np.random.default_rng(seed), segments=seed % 3, rendezvous=seed % 4 != 0)
    samples = emulate(network, tmp_path, "--repetitions", 4).samples
    exchanges = samples[samples["series"].isin(["rtt", "train", "paced", "flood", "spaced"])]
    assert len(exchanges) > 1000
    for row in exchanges.itertuples():
        expected = prtt(network, row.n, row.delay_ns * 1000, row.size)
        assert row.value_ns * 1000 == pytest.approx(expected, abs=1), (row.series, row.size)


@pytest.mark.parametrize("seed", range(6))
def test_the_simulator_gives_the_emulated_times_to_the_picosecond(seed, tmp_path):
    network = random_network(np.random.default_rng(100 + seed), segments=1)
    measured = emulate(network, tmp_path, "--repetitions", 1)
    machine = idlewave.Machine.from_toml(as_toml(network))
    for series, messages in (("rtt", 1), ("train", 16)):
        for size in (0, 1, 64, 1025, network.ranges[1][0], 65_536):
            rows = measured.values(series, size)
            if rows.empty:
                continue
            schedule = idlewave.Schedule.from_goal(exchange_as_goal(messages, 0, size))
            finish = idlewave.simulate(schedule, machine).finish[0]
            assert set((rows["value_ns"] * 1000).round().astype(int)) == {finish}, (series, size)


def test_what_a_receiver_has_left_to_do_is_its_overhead(tmp_path):
    p = FittedParameters(2e6, 1e5, 3e5, 4e5, 200.0, 70.0)
    measured = emulate(Network(((1, p),), None), tmp_path, "--repetitions", 2)
    for series in ("recv", "wait"):
        for size in (1, 100, 65_536):
            left = measured.values(series, size)["value_ns"]
            assert (left * 1000).tolist() == pytest.approx([p.o_r + (size - 1) * p.O] * len(left))


def test_send_calls_last_their_overhead(tmp_path):
    p = FittedParameters(2e6, 1e6, 3e5, 4e5, 20.0, 70.0)
    measured = emulate(Network(((1, p),), None), tmp_path, seconds=200)
    for size in (1, 1024):
        call = p.o_s + (size - 1) * p.O
        assert set(measured.values("send", size)["value_ns"] * 1000) == {call}
        assert set(measured.values("few", size)["value_ns"] * 1000) == {4 * call}


@pytest.mark.parametrize("seed", most_long(range(20), 6))
def test_the_rendezvous_is_seen_at_its_exact_size_without_asking(seed, tmp_path):
    network = random_network(np.random.default_rng(300 + seed), segments=seed % 2)
    measured = emulate(network, tmp_path)
    assert measured.summary["blocking_from"] == [network.S + 1]
    late = measured.samples[measured.samples["series"] == "late"]
    eager = late["size"] <= network.S
    assert (late[eager]["value_ns"] < 0.5 * late[eager]["delay_ns"]).all()
    assert (late[~eager]["value_ns"] > 0.9 * late[~eager]["delay_ns"]).all()


@pytest.mark.parametrize("seed", most_long(range(40), 10))
def test_every_change_is_enclosed_by_two_neighbouring_sizes(seed, tmp_path):
    random = np.random.default_rng(1000 + seed)
    network = random_network(random, segments=seed % 3, rendezvous=random.random() < 0.8)
    sizes = set(emulate(network, tmp_path, "--seed", seed).samples["size"])
    for first, jump in changes(network).items():
        assert {first - 1, first} <= sizes or jump < 0.005, (first, jump, network)


@pytest.mark.parametrize("seed", most_long(range(15), 5))
def test_scatter_and_detours_hide_no_change_of_five_per_cent(seed, tmp_path):
    random = np.random.default_rng(2000 + seed)
    network = random_network(random, segments=seed % 3, rendezvous=random.random() < 0.8)
    sizes = set(emulate(network, tmp_path, "--seed", seed, "--scatter", 0.01, "--hits", 0.03).samples["size"])
    for first, jump in changes(network).items():
        assert {first - 1, first} <= sizes or jump < 0.05, (first, jump, network)


@pytest.mark.parametrize("seconds", [0.3, 1, 2, 4])
def test_refinement_keeps_to_its_time_and_names_no_change_that_it_did_not_enclose(seconds, tmp_path):
    network = random_network(np.random.default_rng(3), 6)
    there = changes(network)
    measured = emulate(network, tmp_path, "--scatter", 0.01, seconds=seconds)
    assert measured.summary["ended"] == "seconds"
    ends = measured.samples["start_ns"] + measured.samples["value_ns"]
    assert ends.max() * 1e-9 < 1.01 * seconds
    sizes = set(measured.samples["size"])
    found = measured.summary["breaks"]
    assert found or seconds < 1  # then there is hardly time for the sizes
    assert all({first - 1, first} <= sizes and first in there for first in found)
    assert max(sizes) >= 16_384  # fewer sizes rather than a part of them


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("scatter", [0, 0.01])
def test_published_changes_are_enclosed(name, scatter, tmp_path):
    network = published(name, rendezvous=20_000)
    measured = emulate(network, tmp_path, "--scatter", scatter)
    assert measured.summary["blocking_from"] == [20_001]
    sizes = set(measured.samples["size"])
    for first in list(PUBLISHED[name])[1:]:
        assert {first - 1, first} <= sizes


def test_the_same_seed_gives_the_same_samples_and_another_seed_another_order(tmp_path):
    network = published("SCI", 5000)
    options = ("--scatter", 0.01, "--repetitions", 8)
    files = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        emulate(network, tmp_path / name, *options, "--seed", seed)
        files.append((tmp_path / name / "samples.csv").read_bytes())
    assert files[0] == files[1] != files[2]


def test_settled_series_are_visited_less_often(tmp_path):
    measured = emulate(published("InfiniBand"), tmp_path, "--scatter", 0.02, "--width", 0.02)
    assert measured.summary["ended"] == "settled"
    counts = measured.samples[measured.samples["series"] == "rtt"].groupby("size").size()
    assert counts.max() > 1.5 * counts.min()
    calm = emulate(published("InfiniBand"), tmp_path / "calm", "--scatter", 0.002, "--width", 0.02)
    assert calm.summary["samples"] < measured.summary["samples"]


def test_the_bound_of_repetitions_counts_those_of_all_sizes(tmp_path):
    measured = emulate(published("SCI", 5000), tmp_path, "--scatter", 0.02, "--width", 0.0001, "--repetitions", 12)
    assert measured.summary["ended"] == "repetitions"
    assert measured.summary["blocking_from"] == [5001]
    assert len(measured.values("rtt", 1)) >= 12


def test_sizes_that_do_not_fit_into_the_time_are_left_out_from_the_top_and_named(tmp_path):
    slow = Network(((1, FittedParameters(50e6, 5e6, 5e6, 9e6, 100_000.0, 10.0)),), None)  # 10 MB/s
    measured = emulate(slow, tmp_path, seconds=4)
    dropped = measured.summary["dropped_sizes"]
    assert dropped
    assert max(dropped) == 262_144
    assert measured.samples["size"].max() < min(dropped)
    core = measured.samples[measured.samples["series"] == "rtt"]
    assert core.groupby("size").size().min() >= 3


def test_series_of_other_methods_are_at_powers_of_two_only(tmp_path):
    samples = emulate(published("InfiniBand"), tmp_path).samples
    for series in ("send", "few", "delayed", "flood", "spaced"):
        sizes = set(samples.loc[samples["series"] == series, "size"])
        assert sizes
        assert all(s & (s - 1) == 0 for s in sizes)
    assert set(samples.loc[samples["size"] == 0, "series"]) == {"rtt", "send", "flood", "recv"}
    spaced = samples[(samples["series"] == "spaced") & (samples["size"] == 1024)]
    assert spaced["delay_ns"].nunique() == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected S, and a line for each range"),
        ("ten\n1 1 1 1 1 1 1\n", "line 1: expected S in bytes or inf, found 'ten'"),
        ("10\n1 1 1 1 1 1\n", "line 2: expected seven numbers"),
        ("10\n1 1 1 1 1 1 1 1\n", "line 2: expected seven numbers"),
        ("10\n2 1 1 1 1 1 1\n", "line 2: ranges ascend, the first is from 1; found 2"),
        ("10\n1 1 1 1 1 1 1\n1 1 1 1 1 1 1\n", "line 3: ranges ascend"),
        ("10\n1 -1 1 1 1 1 1\n", "line 2: times are 0 to a second"),
    ],
)
def test_a_wrong_network_is_refused_with_its_place(tmp_path, text, words):
    file = tmp_path / "network.txt"
    file.write_text(text)
    done = run("--network", file, "--output", tmp_path, program=emulated_program())
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--transport: expected one of tcp"),
        (["--transport", "tcp"], "--output: expected the folder"),
        (["--transport", "carrier-pigeon", "--output", "x"], "--transport: expected one of tcp"),
        (["--transport", "tcp", "--output", "x", "--train", "1"], "--train: expected a number from 2"),
        (["--transport", "tcp", "--output", "x", "--connect", "nowhere"], "expected HOST:PORT, found 'nowhere'"),
        (["--listen", "1234"], "expected HOST:PORT, found '1234'"),
        (["--fast"], "--fast: no such option"),
        (["fast"], "'fast': expected an option"),
    ],
)
def test_wrong_use_is_said_and_has_a_status_of_its_own(tmp_path, options, words):
    done = run(*options, cwd=tmp_path)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    network = write_network(published("SCI"), tmp_path / "network.txt")
    done = run("--network", network, "--output", tmp_path / "file" / "out", program=emulated_program())
    assert done.returncode == 1
    assert str(tmp_path / "file" / "out") in done.stderr


def test_a_full_disk_is_said_and_leaves_no_unfinished_file(tmp_path):
    network = write_network(published("SCI"), tmp_path / "network.txt")
    (tmp_path / "loggp.json.part").symlink_to("/dev/full")
    done = run("--network", network, "--output", tmp_path, program=emulated_program())
    assert (done.returncode, "loggp.json.part cannot be written: No space left" in done.stderr) == (1, True)
    assert not list(tmp_path.glob("*.part"))


def test_the_columns_are_those_that_the_summary_names(tmp_path):
    measured = assess(
        tmp_path, "--repetitions", 1, "--network", write_network(published("SCI"), tmp_path / "network.txt"),
        program=emulated_program(),
    )  # fmt: skip
    assert list(measured.samples.columns) == measured.summary["columns"].split(",")
    assert (measured.samples["disturbed"] == 0).all()
    assert measured.samples["start_ns"].min() >= 0
