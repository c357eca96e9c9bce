"""The network probe that is told to end, whose other side dies, or is none. What it measures is not looked at, so load
does no harm here."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from idlewave import mpi
from idlewave.errors import MeasurementError
from idlewave.measure.network import read_measurement, read_samples
from idlewave.measure.network.job.collectives import read_collectives
from network_probe import PROGRAM, assess, run, run_ranks, start

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason="this installation lacks idlewave-loggp-local"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two sides need a core each; this process has one"),
]

HELLO = struct.Struct("<16sii32s")
TEXT = struct.Struct("<Q")  # its length; then the text
PLACE = struct.Struct("<256s4iB3x")
ORDER = struct.Struct("<4iIid")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_measured(number, tmp_path):
    running = start("--transport", "shm", "--output", tmp_path, "--seconds", 60)
    assert running.stdout is not None
    while not running.stdout.readline().startswith("progress"):
        assert running.poll() is None
    running.send_signal(number)
    out, complaints = running.communicate(timeout=60)
    assert running.returncode == 0, complaints
    summary = json.loads(out.splitlines()[-1])
    assert (summary["complete"], summary["ended"]) == (False, "interrupted")
    assert len(read_samples(tmp_path / "samples.csv")) == summary["samples"] > 0


def listening(*options):
    """A server on some port, and that port."""
    server = start("--listen", "127.0.0.1:0", *options)
    assert server.stdout is not None
    return server, int(server.stdout.readline().split()[-1])


def test_two_programs_that_were_started_apart_measure_together(tmp_path):
    server, port = listening()
    options = ("--transport", "tcp", "--connect", f"127.0.0.1:{port}", "--max-size", 64, "--repetitions", 2)
    measured = assess(tmp_path, *options, "--seconds", 60)
    assert len(measured.samples) > 0
    assert server.wait(30) == 0


def test_a_peer_of_another_version_is_refused_by_both(tmp_path):
    server, port = listening("--timeout", 2)
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(HELLO.pack(b"idlewave-loggp", 77, 64, b"tcp"))
    assert server.wait(30) == 1
    assert "the other side has format 77, this one 1" in server.stderr.read()
    with socket.create_server(("127.0.0.1", 0)) as old:
        options = ("--transport", "tcp", "--output", tmp_path, "--connect", f"127.0.0.1:{old.getsockname()[1]}")
        client = start(*options)
        connection, _ = old.accept()
        with connection:
            connection.sendall(HELLO.pack(b"idlewave-loggp", 77, 64, b""))
            assert client.wait(30) == 1
    assert "the other side has format 77, this one 1" in client.stderr.read()


def test_a_stranger_is_refused_and_keeps_nobody_from_measuring(tmp_path):
    server, port = listening()
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: somewhere.example\r\nAccept: */*\r\n\r\n")
    options = ("--transport", "tcp", "--connect", f"127.0.0.1:{port}", "--max-size", 64, "--repetitions", 1)
    assert len(assess(tmp_path, *options, "--seconds", 60).samples) > 0
    assert server.wait(30) == 0
    assert "what connected is not idlewave-loggp-local" in server.stderr.read()


def test_a_server_that_is_told_to_end_does_not_wait_for_its_client():
    server, _ = listening()
    server.send_signal(signal.SIGTERM)
    assert server.wait(30) == 1
    assert "told to end before anybody connected" in server.stderr.read()


def read_bytes(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        assert part, "the server ended"
        data += part
    return data


def said_by_peer(connection, transport):
    """The hello, and the exchange of hosts' names, of a client that is none."""
    connection.sendall(HELLO.pack(b"idlewave-loggp", 1, 64, transport))
    read_bytes(connection, HELLO.size)
    name = socket.gethostname().encode()
    connection.sendall(TEXT.pack(len(name)) + name)
    read_text(connection)


def read_text(connection):
    return read_bytes(connection, TEXT.unpack(read_bytes(connection, TEXT.size))[0]).decode()


def test_a_text_without_measure_is_not_waited_for():
    server, port = listening()
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(HELLO.pack(b"idlewave-loggp", 1, 64, b"tcp") + TEXT.pack(1 << 40))
        assert server.wait(30) == 1
    assert f"announces a text of {1 << 40} B" in server.stderr.read()


@pytest.mark.parametrize(
    "order",
    [
        pytest.param((0, 65, 1, 1, 1, 0, 0.0), id="larger than agreed"),
        pytest.param((0, -1, 1, 1, 1, 0, 0.0), id="negative"),
        pytest.param((0, 0, 1, 1, 1, 0, 0.0), id="empty"),
        pytest.param((0, 1, 1 << 30, 1, 1, 0, 0.0), id="too many"),
        pytest.param((0, 1, 1, 1 << 30, 1, 0, 0.0), id="too long a warm-up"),
        pytest.param((77, 1, 1, 1, 1, 0, 0.0), id="unknown"),
        pytest.param((1, 1, 1, 1, 1, 0, float("nan")), id="no delay"),
        pytest.param((1, 1, 1, 1, 1, 0, 1e300), id="for ever"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(order):
    server, port = listening()
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        said_by_peer(stranger, b"tcp")
        with socket.create_connection(("127.0.0.1", int(read_text(stranger)))):
            stranger.sendall(PLACE.pack(b"\xff" * 256, 0, 1, 1, -1, 255))
            read_bytes(stranger, PLACE.size)
            stranger.sendall(ORDER.pack(*order))
            assert server.wait(30) == 1
    assert "the other side asks for" in server.stderr.read()


def test_shared_memory_leaves_no_name_when_the_other_side_ends_too_soon():
    server, port = listening()
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        said_by_peer(stranger, b"shm")
        name = read_text(stranger)
        assert Path("/dev/shm" + name).exists()
    assert server.wait(30) == 1
    assert not Path("/dev/shm" + name).exists()


def test_shared_memory_of_two_hosts_is_refused():
    server, port = listening()
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(HELLO.pack(b"idlewave-loggp", 1, 64, b"shm") + TEXT.pack(9) + b"elsewhere")
        assert server.wait(30) == 1
    assert "expected both sides on one host" in server.stderr.read()


def test_two_sides_on_one_cpu_are_refused(tmp_path):
    cpu = min(os.sched_getaffinity(0))
    done = run(
        "--transport", "tcp", "--output", tmp_path, preexec_fn=lambda: os.sched_setaffinity(0, {cpu})
    )  # fmt: skip
    assert (done.returncode, f"both sides are bound to CPU {cpu}" in done.stderr) == (1, True)


def test_nobody_waits_for_ever_for_a_peer(tmp_path):
    server, port = listening("--timeout", 0.5)
    assert server.wait(30) == 1
    assert "nobody connected" in server.stderr.read()
    done = run("--transport", "tcp", "--output", tmp_path, "--connect", f"127.0.0.1:{port}", "--timeout", 0.5)
    assert (done.returncode, "cannot be reached" in done.stderr) == (1, True)
    silent, port = listening("--timeout", 0.5)
    with socket.create_connection(("127.0.0.1", port)):
        assert silent.wait(30) == 1
    assert "the other side does not answer" in silent.stderr.read()


def test_a_server_that_dies_ends_the_client(tmp_path):
    server, port = listening()
    client = start("--transport", "tcp", "--output", tmp_path, "--connect", f"127.0.0.1:{port}", "--seconds", 60)
    assert client.stdout is not None
    while not client.stdout.readline().startswith("progress"):
        assert client.poll() is None
    server.kill()
    server.wait(30)
    _, complaints = client.communicate(timeout=60)
    assert client.returncode == 1
    assert "the other side" in complaints
    assert len(read_samples(tmp_path / "samples.csv")) > 0


# ---- under MPI


@pytest.mark.mpi
@pytest.mark.parametrize("transport", ["put", "get"])
def test_a_rank_that_fails_while_there_is_a_window_ends_all(installed, mpi_probe, tmp_path, transport):
    (tmp_path / "samples.csv").mkdir()
    done = run_ranks(installed, mpi_probe, "--output", tmp_path, "--transport", transport, "--seconds", "1")
    assert done.returncode != 0
    assert "samples.csv cannot be written" in done.stderr


@pytest.mark.mpi
def test_more_than_two_ranks_are_refused(installed, mpi_probe, tmp_path):
    done = run_ranks(installed, mpi_probe, "--output", tmp_path, ranks=3)
    assert done.returncode != 0
    assert "two ranks are needed (mpiexec -n 2), found 3" in done.stderr


LONG = {
    "loggp": ("--seconds", "60"),
    "pairs": ("--seconds", "60", "--visits", "1000", "--precision", "0.0001"),
    "clocks": ("--seconds", "60", "--bursts", "6000"),
}
ENDED_EARLY = {"loggp": ("complete", False), "pairs": ("interrupted", True), "clocks": ("interrupted", True)}


def started_ranks(installed, name, folder):
    """A probe on two ranks that has begun to measure."""
    command = [str(installed.mpiexec), "-n", "2", str(mpi.build(installed, name)), "--output", str(folder), *LONG[name]]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=installed.environment()
    )
    assert running.stdout is not None
    for _ in range(2):  # the first may come before the first sample
        while not running.stdout.readline().startswith("progress"):
            assert running.poll() is None
    return running


def process_of_rank(rank, folder):
    """The process of that rank, by what it was started with."""
    names = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            variables = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(folder).encode() in words and any(f"{name}={rank}".encode() in variables for name in names):
            return int(process.name)
    raise AssertionError(f"no process of rank {rank} was found")


@pytest.mark.mpi
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_was_recorded_until_mpiexec_was_interrupted_is_read(installed, number, tmp_path):
    running = started_ranks(installed, "loggp", tmp_path)
    running.send_signal(number)
    running.communicate(timeout=60)
    said = json.loads((tmp_path / "loggp.json").read_text())
    assert (said["complete"], said["transport"]) == (False, "mpi")
    assert said["ended"] in ("killed", "interrupted")
    assert len(said["ranks"]) == 2
    assert len(read_samples(tmp_path / "samples.csv")) > 0
    try:
        notes = read_measurement(tmp_path).notes
    except MeasurementError:
        return  # too few samples, said in words
    assert any(f"The measurement was {said['ended']}" in note for note in notes)


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("name", "rank"), [("loggp", 0), ("loggp", 1), ("pairs", 0), pytest.param("clocks", 0, marks=pytest.mark.long)]
)
def test_a_rank_that_alone_is_told_to_end_ends_all_and_the_summary_is_whole(installed, name, rank, tmp_path):
    running = started_ranks(installed, name, tmp_path)
    os.kill(process_of_rank(rank, tmp_path), signal.SIGTERM)
    out, complaints = running.communicate(timeout=60)
    assert running.returncode == 0, complaints
    said = json.loads((tmp_path / f"{name}.json").read_text())
    assert json.loads(out.splitlines()[-1]) == said
    key, value = ENDED_EARLY[name]
    assert said[key] is value
    assert said.get("ended", "interrupted") == "interrupted"


@pytest.mark.long
@pytest.mark.mpi
def test_a_rank_that_is_told_to_end_does_not_wait_for_ever_for_one_that_is_silent(installed, tmp_path):
    running, silent = {}, []
    try:
        for name in LONG:
            running[name] = started_ranks(installed, name, tmp_path / name)
            silent.append(process_of_rank(1, tmp_path / name))
            os.kill(silent[-1], signal.SIGSTOP)
            os.kill(process_of_rank(0, tmp_path / name), signal.SIGTERM)
        for job in running.values():
            job.communicate(timeout=90)
    finally:
        for process in silent:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    for name, (key, value) in ENDED_EARLY.items():
        assert json.loads((tmp_path / name / f"{name}.json").read_text())[key] is value


SHORT = {"loggp": 1.0, "collectives": 0.2, "patterns": 0.6}


def epoch_command(installed, folder, ranks=2, **seconds):
    """The program of an epoch, with a folder for each of its probes."""
    command = [str(installed.mpiexec), "-n", str(ranks), str(mpi.build(installed, "epoch"))]
    for name, usual in SHORT.items():
        command += [f"--{name}-output", str(folder / name), f"--{name}-max-size", "4096"]
        command += [f"--{name}-seconds", str(seconds.get(name, usual))]
    return command


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.long)])
def test_an_epoch_has_the_recordings_of_three_probes_of_which_two_are_between_two_ranks(installed, ranks, tmp_path):
    command = epoch_command(installed, tmp_path, ranks)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=installed.environment())
    assert done.returncode == 0, done.stderr
    said = {name: json.loads((tmp_path / name / f"{name}.json").read_text()) for name in SHORT}
    assert {name: len(one["ranks"]) for name, one in said.items()} == {"loggp": 2, "collectives": 2, "patterns": ranks}
    assert said["loggp"]["complete"]
    assert not said["collectives"]["interrupted"]
    assert not said["patterns"]["interrupted"]
    known = list(said["loggp"]["blocking_from"])
    breaks = 0
    for first in said["loggp"]["breaks"]:  # the clearest comes first
        if breaks < 4 and not any(max(first, old) < 1.01 * min(first, old) for old in known):
            known.append(first)
            breaks += 1
    assert said["patterns"]["changes"] == sorted(known)


@pytest.mark.mpi
@pytest.mark.parametrize("rank", [0, 1])
def test_an_epoch_whose_rank_is_told_to_end_keeps_what_was_measured_and_begins_nothing_more(installed, rank, tmp_path):
    command = epoch_command(installed, tmp_path, collectives=60)
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=installed.environment()
    )
    assert running.stdout is not None
    while not running.stdout.readline().startswith("progress"):
        assert running.poll() is None
    os.kill(process_of_rank(rank, tmp_path / "collectives"), signal.SIGTERM)
    _, complaints = running.communicate(timeout=60)
    assert running.returncode == 0, complaints
    assert json.loads((tmp_path / "collectives" / "collectives.json").read_text())["interrupted"]
    assert len(read_collectives(tmp_path / "collectives").samples) > 0
    assert not (tmp_path / "loggp").exists()
    assert not (tmp_path / "patterns").exists()


@pytest.mark.mpi
def test_a_probe_of_an_epoch_that_fails_ends_all_and_is_named(installed, tmp_path):
    (tmp_path / "loggp").write_text("in the way")
    command = epoch_command(installed, tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=installed.environment())
    assert done.returncode != 0
    assert f"{tmp_path / 'loggp'}" in done.stderr
    collectives = read_collectives(tmp_path / "collectives")  # what was measured before
    assert collectives.probe["interrupted"]
    assert set(collectives.samples["collective"]) == set(collectives.probe["collectives"])
    assert not (tmp_path / "patterns").exists()
