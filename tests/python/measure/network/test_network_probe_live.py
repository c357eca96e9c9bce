"""The network probe over this machine's own transports; nothing here asserts a time."""

from __future__ import annotations

import json
import os
import re
import subprocess

import numpy as np
import pytest
from idlewave import mpi
from idlewave.measure.network import read_samples
from network_probe import PROGRAM, assess, run, run_ranks

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(not PROGRAM.exists(), reason="this installation lacks idlewave-loggp-local"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two sides need a core each; this process has one"),
]

CORE = {"rtt", "train", "paced", "recv", "wait", "late"}
EVERY = CORE | {"send", "few", "delayed", "flood", "spaced"}


def transports():
    return [one["name"] for one in json.loads(run("--transports").stdout)] if PROGRAM.exists() else []


@pytest.mark.parametrize("transport", transports())
def test_every_series_comes_over_every_transport(transport, tmp_path):
    measured = assess(
        tmp_path, "--transport", transport, "--max-size", 1024, "--repetitions", 5, "--seconds", 60
    )  # fmt: skip
    assert set(measured.samples["series"]) == EVERY == set(measured.summary["series"])
    assert measured.summary["complete"]
    assert measured.summary["ended"] in ("repetitions", "settled")
    assert measured.summary["transport"] == transport
    assert (measured.samples["value_ns"] > 0).mean() > 0.99
    assert measured.summary["same_node"]
    assert len({r["cpu"] for r in measured.summary["ranks"]}) == 2
    assert len(measured.summary["foreign_load"]["client"]) == len(measured.summary["foreign_load"]["server"])


@pytest.mark.parametrize("transport", ["libfabric", "ucx"])
def test_messages_pass_the_libraries_of_fabrics_where_the_probe_has_them(transport, tmp_path):
    if transport not in transports():
        pytest.skip(f"the probe was built without {transport}")
    measured = assess(tmp_path, "--transport", transport, "--max-size", 256, "--repetitions", 3, "--seconds", 20)
    trips = measured.samples[measured.samples["series"] == "rtt"]
    assert set(trips["size"]) >= {1, 64, 256}
    assert np.isfinite(trips["value_ns"]).all()
    assert (trips["value_ns"] > 0).mean() > 0.99
    assert measured.summary["transport"] == transport
    assert re.match(r"libfabric \d+\.\d+, provider \w|UCX \d", measured.summary["fabric"])


@pytest.mark.parametrize(
    ("options", "variables", "provider"),
    [((), {}, "shm"), (("--provider", "tcp"), {}, "tcp"), ((), {"FI_PROVIDER": "tcp"}, "tcp")],
)
def test_libfabric_within_a_host_is_shared_memory_unless_another_provider_is_named(
    options, variables, provider, tmp_path, monkeypatch
):
    if "libfabric" not in transports():
        pytest.skip("the probe was built without libfabric")
    monkeypatch.delenv("FI_PROVIDER", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    brief = ("--max-size", 64, "--repetitions", 3, "--seconds", 20)
    if provider == "shm":
        try:
            assess(tmp_path / "named", "--transport", "libfabric", "--provider", "shm", *brief)
        except AssertionError as error:
            pytest.skip(f"libfabric cannot do shared memory here: {error}")
    measured = assess(tmp_path, "--transport", "libfabric", *options, *brief)
    assert f"provider {provider}" in measured.summary["fabric"]


def test_foreign_load_is_told_each_half_second_and_is_what_others_use(tmp_path):
    cores = sorted(os.sched_getaffinity(0))[:2]
    options = ("--transport", "shm", "--max-size", 64, "--seconds", 4, "--repetitions", 100_000, "--width", 0.0001)
    with subprocess.Popen(["taskset", "-c", str(cores[0]), "sh", "-c", "while :; do :; done"]) as other:
        try:
            measured = assess(tmp_path, *options, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        finally:
            other.kill()
    side = [rank["cpu"] for rank in measured.summary["ranks"]].index(cores[0])
    told = [x for x in measured.summary["foreign_load"][("client", "server")[side]] if x is not None]
    assert 1 <= len(told) <= 2 * measured.samples["start_ns"].max() * 1e-9 + 1
    assert np.mean(told) > 0.25  # two that never wait share a core


def test_large_messages_pass_shared_memory_whole(tmp_path):
    measured = assess(tmp_path, "--transport", "shm", "--max-size", 8_000_000, "--repetitions", 1, "--seconds", 300)
    assert measured.samples["size"].max() == 8_000_000  # longer than the ring


def test_a_datagram_bounds_the_sizes_of_udp(tmp_path):
    measured = assess(tmp_path, "--transport", "udp", "--repetitions", 1, "--seconds", 60)
    assert measured.samples["size"].max() == 65_507 - 8


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("transport", "series"),
    [
        ("mpi", EVERY),
        ("put", EVERY - {"late"}),
        ("get", EVERY - {"late", "recv", "wait"}),
        ("tcp", EVERY),
        ("shm", EVERY),
    ],
)
def test_ranks_measure_over_their_mpi_and_over_other_transports(installed, mpi_probe, tmp_path, transport, series):
    options = ("--transport", transport, "--max-size", 512, "--repetitions", 5, "--seconds", 60)
    done = run_ranks(installed, mpi_probe, "--output", tmp_path, *options)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "loggp.json").read_text())
    assert set(read_samples(tmp_path / "samples.csv")["series"]) == series == set(summary["series"])
    assert summary["traits"]["receives"] == ("late" in series)
    # a library may let the kernel copy page by page; the system's own streams do not
    paged = transport in ("mpi", "put", "get")
    assert summary.get("pages", {}).get("size") == (os.sysconf("SC_PAGESIZE") if paged else None)


@pytest.mark.mpi
@pytest.mark.parametrize("transport", ["put", "get"])
def test_messages_that_fill_a_window_go_one_at_a_time(installed, mpi_probe, tmp_path, transport):
    largest = 20_000_000  # a window holds 32 MiB, or one message
    options = ("--transport", transport, "--max-size", largest, "--repetitions", 1, "--seconds", 300)
    done = run_ranks(installed, mpi_probe, "--output", tmp_path, *options)
    assert done.returncode == 0, done.stderr
    samples = read_samples(tmp_path / "samples.csv")
    assert set(samples[samples["size"] == largest]["n"]) == {1}
    assert set(samples[samples["size"] == 1024]["n"]) > {1}


@pytest.mark.mpi
@pytest.mark.long
@pytest.mark.parametrize("limit", [1024, 4096, 12_345])
def test_open_mpis_eager_limit_is_found_without_asking(installed, mpi_probe, tmp_path, limit):
    if installed.vendor != mpi.OPEN_MPI:
        pytest.skip(f"the variable is Open MPI's, and this is {installed.vendor}")
    header = 80
    options = ("--max-size", 32_768, "--seconds", 20, "--repetitions", 12)
    found = []
    for _ in range(3):  # a receiver that others keep from its core is later than it was asked to be
        done = run_ranks(installed, mpi_probe, "--output", tmp_path, *options, OMPI_MCA_btl_sm_eager_limit=str(limit))
        assert done.returncode == 0, done.stderr
        found.append(json.loads((tmp_path / "loggp.json").read_text())["blocking_from"])
        if found[-1] == [limit - header + 1]:
            return
    pytest.fail(f"expected sends to wait from {limit - header + 1} B on, found {found}")
