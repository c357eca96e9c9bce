"""Truth on a real stack: Open MPI's eager limit set to known values, and a link whose rate is set. No time is asserted;
a machine that is too busy, or forbids what is needed, skips."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess

import numpy as np
import pytest
from idlewave import mpi
from idlewave.errors import MeasurementError
from idlewave.measure.network import estimate, measure_network, read_samples
from idlewave.measure.network.fitting.observations import late_sends, undisturbed
from idlewave.measure.network.fitting.protocol_changes import LATE, find_threshold
from idlewave.measure.network.transports import transport_named

HEADER = 80  # of Open MPI's shared memory, counted in its limit
INLINE = 256  # up to there its point-to-point layer (ob1) sends without a request, whatever the settings
NEVER = 1 << 30  # else the C library copies in another way from 2113 B on, on some processors, which is found too
QUIET = 0.05  # of a rank's core used by others: then a fit is demanded
BUSY = 0.1  # of a rank's core used by others: then eager sends wait for more than their receivers
RATE = 2e8  # bits a second: less than a slow processor gets through packet by packet
PAYLOAD = 1448 / 1514  # of an Ethernet frame of a TCP stream with time stamps
BURST = 32_768  # bytes that pass the shaper at once
PORT = 7607

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def open_mpi(installed):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks need a core each; this process may use one")
    if installed.vendor != mpi.OPEN_MPI:
        pytest.skip(f"the eager limit is Open MPI's, and this is {installed.vendor}")
    return installed


def measured(open_mpi, folder):
    """The folder of a run, and the sizes at which its fit has a change of protocol; None where there is no fit."""
    try:
        fit = measure_network(open_mpi, seconds=5, max_size=65_536, folder=folder, attempts=1).fit
    except MeasurementError:
        if not (folder / "network-1" / "loggp.json").is_file():
            raise
        return folder / "network-1", None
    return folder / "network-1", [r.first for r in fit.ranges if r.cause in ("jump", "rendezvous")]


def foreign_load(folder):
    said = json.loads((folder / "loggp.json").read_text())["foreign_load"]
    return max(np.mean([share for share in shares if share is not None] or [0]) for shares in said.values())


@pytest.mark.mpi
@pytest.mark.parametrize(
    "limit", [4096, *(pytest.param(limit, marks=pytest.mark.long) for limit in (1024, 12_288, 32_768))]
)
def test_open_mpi_s_eager_limit_is_found_from_the_samples_alone_and_nothing_else_but_its_inline_sends(
    open_mpi, limit, tmp_path, monkeypatch
):
    monkeypatch.setenv("GLIBC_TUNABLES", f"glibc.cpu.x86_rep_movsb_threshold={NEVER}")
    for name in ("btl_sm_eager_limit", "btl_vader_eager_limit"):
        monkeypatch.setenv(f"OMPI_MCA_{name}", str(limit))
    first = limit - HEADER + 1
    loads, fits, others = [], 0, []
    for attempt in range(3):
        folder, changes = measured(open_mpi, tmp_path / str(attempt))
        loads.append(foreign_load(folder))
        fits += changes is not None
        samples = undisturbed(read_samples(folder / "samples.csv"))
        late = late_sends(samples)
        eager = find_threshold(late["size"].to_numpy(), late["share"].to_numpy() >= LATE)
        around = late["size"].iloc[eager - 1 : eager + 1].tolist()
        if around == [first - 1, first] and changes is not None and set(changes) == {INLINE + 1, first}:
            return
        if loads[-1] < BUSY:
            assert around == [first - 1, first]
            assert changes is None or first in changes
            others += [changes] if changes is not None else []
            assert len(others) < 2, f"twice of two quiet attempts others than {INLINE + 1} and {first}: {others}"
    assert fits or max(loads) >= QUIET, "no fit in three attempts though the machine was quiet"
    pytest.skip(f"other processes used more than {BUSY:.0%} of the ranks' cores, or no fit was possible")


@contextlib.contextmanager
def two_namespaces():
    """Two network namespaces joined by a pair of veth, each side shaped to RATE by tbf; removed at the end."""
    names = [f"iw{side}{os.getpid()}" for side in "ab"]
    ends = [f"v{side}{os.getpid()}" for side in "ab"]

    def do(*command):
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)

    made = []
    try:
        for name in names:
            do("ip", "netns", "add", name)
            made.append(name)
        do("ip", "link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
        for i, (name, end) in enumerate(zip(names, ends, strict=True)):
            do("ip", "-n", name, "addr", "add", f"10.77.0.{i + 1}/24", "dev", end)
            # frames as they would be on a wire: else the shaper counts one header for 64 KiB
            do("ip", "-n", name, "link", "set", end, "gso_max_segs", "1")
            do("ip", "-n", name, "link", "set", end, "up")
            # windows large enough, and kept over the pauses of the probe
            settings = ["tcp_slow_start_after_idle=0", "tcp_rmem=4096 4194304 8388608", "tcp_wmem=4096 4194304 8388608"]
            do("ip", "netns", "exec", name, "sysctl", "-qw", *(f"net.ipv4.{s}" for s in settings))
            shaped = ["rate", f"{RATE:.0f}bit", "burst", f"{BURST}b", "latency", "50ms"]
            do("tc", "-n", name, "qdisc", "add", "dev", end, "root", "tbf", *shaped)
        yield names
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=30)


@pytest.fixture
def namespaces():
    for tool in ("ip", "tc", "sysctl"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}")
    with contextlib.ExitStack() as stack:
        try:
            names = stack.enter_context(two_namespaces())
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        yield names


@pytest.mark.long
def test_g_over_tcp_is_the_link_s_rate_by_its_payload_share(namespaces, tmp_path):
    program = mpi.package_data() / "bin" / "idlewave-loggp-local"
    if not program.is_file():
        pytest.skip(f"this installation has no {program.name}")
    within = [["ip", "netns", "exec", name, str(program)] for name in namespaces]
    server = subprocess.Popen(
        [*within[1], "--listen", f"10.77.0.2:{PORT}", "--address", "10.77.0.2"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert "listening" in server.stdout.readline()
        subprocess.run(
            [*within[0], "--transport", "tcp", "--connect", f"10.77.0.2:{PORT}", "--address", "10.77.0.2",
             "--output", str(tmp_path), "--max-size", "393216", "--train", "2", "--seconds", "40"],
            check=True, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        server.wait(30)
    finally:
        server.kill()
        server.wait()
    if foreign_load(tmp_path) > BUSY:
        pytest.skip(f"other processes used more than {BUSY:.0%} of a core: then the shaper's packets go late, in lumps")
    single = undisturbed(read_samples(tmp_path / "samples.csv")).query(f"series == 'rtt' and size >= {2 * BURST}")
    # The shaper sets the least time; whatever else there is only adds to it.
    half = single.groupby("size")["value_ns"].quantile(0.25) / 2
    if len(half) < 4 or half.index.max() < 8 * BURST:
        pytest.skip("the machine was too busy to measure messages that are long beside a burst in the time")
    assert slope_of(half) == pytest.approx(8e9 / RATE / PAYLOAD, rel=0.02)


def slope_of(half):
    """Median slope between all pairs of sizes that are as far apart as the smallest is large (Theil and Sen): between
    near ones there is nothing but scatter, and the probe looks at some sizes more closely than at others.
    """
    sizes, times = half.index.to_numpy(dtype=float), half.to_numpy()
    i, j = np.triu_indices(len(sizes), 1)
    far = sizes[j] - sizes[i] >= sizes[0]
    return float(np.median((times[j] - times[i])[far] / (sizes[j] - sizes[i])[far]))


@pytest.mark.long
def test_shared_memory_and_tcp_on_this_host_are_eager_however_late_the_receiver(tmp_path):
    program = mpi.package_data() / "bin" / "idlewave-loggp-local"
    if not program.is_file():
        pytest.skip(f"this installation has no {program.name}")
    for transport in ("tcp", "shm"):
        folder = tmp_path / transport
        subprocess.run(
            [program, "--transport", transport, "--output", folder, "--seconds", "3", "--max-size", "16384"],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip
        try:
            fit = estimate(read_samples(folder / "samples.csv"), transport=transport_named(transport))
        except MeasurementError:
            continue
        assert fit.S is None
        assert any(f"The transport {transport} has no rendezvous" in note for note in fit.notes)
