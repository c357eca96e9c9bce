"""Whatever a file is, and wherever it lies, it is read or refused: a pipe, a device, a folder, too large."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from idlewave import InputError, Machine, Schedule, provenance_in_files
from idlewave.cli import cli
from idlewave.input import files
from idlewave.measure.noise.signature import Signature
from idlewave.placement_file import read_placement
from idlewave.schedule import convert
from idlewave.studies.table import read_study
from idlewave.trace import Trace
from input_samples import NETWORK, changed, read_of
from reader_mutations import restore

TRACE = '[noise]\nkind = "trace"\nfile = "{}"\nperiod = "1s"\n'
DETOURS = "start_ns,length_ns\n1,2\n"


def noisy(folder: Path, named: str) -> Path:
    (folder / "m").mkdir(exist_ok=True)
    (folder / "m" / "machine.toml").write_text(NETWORK + TRACE.format(named))
    return folder / "m" / "machine.toml"


@pytest.mark.parametrize("named", ["/dev/zero", "../noise.csv", "/etc/passwd", "link.csv", "sub/../../noise.csv"])
def test_a_machine_names_files_in_its_folder_or_below_unless_others_are_allowed(tmp_path: Path, named: str) -> None:
    (tmp_path / "noise.csv").write_text(DETOURS)
    machine = noisy(tmp_path, named)
    (tmp_path / "m" / "link.csv").symlink_to(tmp_path / "noise.csv")
    (tmp_path / "m" / "sub").mkdir()
    with pytest.raises(
        InputError, match=r"machine.toml: noise.file: expected a file below .*which is outside \(--allow"
    ):
        Machine.load(machine)


def test_a_text_that_a_program_has_written_names_any_regular_file(tmp_path: Path) -> None:
    (tmp_path / "noise.csv").write_text(DETOURS)
    text = NETWORK + TRACE.format(tmp_path / "noise.csv")
    assert Machine.from_toml(text).noise.starts.tolist() == [1000]
    with pytest.raises(InputError, match="which is outside"):
        Machine.from_toml(text, folder=tmp_path / "m")
    with pytest.raises(InputError, match="found a device"):
        Machine.from_toml(NETWORK + TRACE.format("/dev/zero"))


def test_a_file_that_has_nothing_to_say_carries_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As /proc/kmsg, of which a read gives None."""

    class Silent(io.BytesIO):
        def read(self, _size: int | None = -1) -> bytes:
            return None  # type: ignore[return-value]

    monkeypatch.setattr(provenance_in_files, "opened", lambda *_: Silent())
    with pytest.raises(InputError, match="nothing is there to be read"):
        provenance_in_files.read_provenance(tmp_path / "kmsg")


def test_a_file_below_the_machine_s_folder_is_read_and_one_outside_if_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "noise.csv").write_text(DETOURS)
    machine = noisy(tmp_path, str(tmp_path / "noise.csv"))
    assert Machine.load(machine, outside=True).noise.starts.tolist() == [1000]
    goal = tmp_path / "x.goal"
    goal.write_text("num_ranks 1\nrank 0 {\ncalc 5\n}\n")
    command = ["simulate", str(goal), "-m", str(machine)]
    assert "which is outside" in str(CliRunner().invoke(cli, command).exception)
    assert CliRunner().invoke(cli, [*command, "--allow-outside"]).exit_code == 0
    (tmp_path / "m" / "sub").mkdir()
    shutil.copy(tmp_path / "noise.csv", tmp_path / "m" / "sub" / "n.csv")
    assert Machine.load(noisy(tmp_path, "sub/n.csv")).noise.starts.tolist() == [1000]
    assert Machine.load(noisy(tmp_path, str(tmp_path / "m" / "sub" / "n.csv"))).noise.starts.tolist() == [1000]


@pytest.mark.parametrize("outside", [False, True])
def test_pipes_devices_and_folders_that_data_names_are_refused_at_once(tmp_path: Path, outside: bool) -> None:
    machine = noisy(tmp_path, "pipe")
    os.mkfifo(tmp_path / "m" / "pipe")
    with pytest.raises(InputError, match=r"pipe: cannot be read as a file of detours: expected a file, found a pipe"):
        Machine.load(machine, outside=outside)
    with pytest.raises(InputError, match=r"m: cannot be read as a file of detours: expected a file, found a directory"):
        Machine.load(noisy(tmp_path, "."), outside=outside)
    if outside:
        with pytest.raises(InputError, match=r"/dev/zero: cannot .*: expected a file, found a device"):
            Machine.load(noisy(tmp_path, "/dev/zero"), outside=True)


@pytest.mark.parametrize(
    ("name", "file", "path"),
    [
        ("detour", "detour.json", ("cores", 0, "file")),
        ("detour", "detour.json", ("cores", 0, "events")),
        ("fwq", "fwq.json", ("cores", 0, "file")),
        ("pairs", "pairs.json", ("file",)),
        ("clocks", "clocks.json", ("tables", "bursts", "file")),
    ],
)
def test_a_recording_names_files_in_its_folder(samples, tmp_path: Path, name: str, file: str, path) -> None:
    restore(samples(name), tmp_path / "x")
    for named in ("../../etc/passwd.csv", "/dev/zero.csv"):
        changed(tmp_path / "x", file, *path, to=named)
        with pytest.raises(InputError, match=rf"{file}: .*file|events.*: expected"):
            read_of(name)(tmp_path / "x")
    os.mkfifo(tmp_path / "x" / "pipe.csv")
    changed(tmp_path / "x", file, *path, to="pipe.csv")
    with pytest.raises(InputError, match=r"pipe.csv: .*expected a file, found a pipe"):
        read_of(name)(tmp_path / "x")


def test_what_the_user_names_may_be_a_pipe_that_somebody_writes_and_nobody_waits_for_one_without(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"pipe: network: expected a table \[network\], found nothing"):
        Machine.load(tmp_path / "pipe")
    reading, writing = os.pipe()
    os.write(writing, NETWORK.encode())
    os.close(writing)
    assert Machine.load(f"/dev/fd/{reading}").network.eager_limit == 65536
    os.close(reading)
    with pytest.raises(InputError, match=r"/dev/zero: cannot be read as a machine: expected a file, found a device"):
        Machine.load("/dev/zero")


GOAL = "num_ranks 1\nrank 0 {\ncalc 5\n}\n"


@pytest.mark.parametrize("place", [".", "/dev/zero", "/dev/tty0"])
def test_a_schedule_that_is_a_folder_or_a_device_is_refused(place: str, tmp_path: Path) -> None:
    for read in (Schedule.load, lambda path: convert(path, tmp_path / "o.idg")):
        with pytest.raises(InputError, match=r"cannot be read as a schedule: "):
            read(place)


def test_a_schedule_s_pipe_that_nobody_writes_is_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for read in (Schedule.load, lambda path: convert(path, tmp_path / "o.idg")):
        with pytest.raises(InputError, match=r"pipe: expected a schedule, found an empty file"):
            read(tmp_path / "pipe")


@pytest.mark.parametrize("delay", [0, 0.3])
@pytest.mark.parametrize("form", ["goal", "bin", "idg"])
def test_a_schedule_may_come_through_a_pipe_with_a_name_or_without(
    delay: float, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PATIENCE", 30)
    source, pipe = tmp_path / f"s.{form}", tmp_path / "pipe"
    Schedule.from_goal(GOAL).save(source)
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"sleep {delay}; cat {source} > {pipe}"]):
        assert Schedule.load(pipe).ranks == 1
    with subprocess.Popen(["sh", "-c", f"sleep {delay}; cat {source}"], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        convert(f"/dev/fd/{writer.stdout.fileno()}", tmp_path / "o.goal")
    assert Schedule.load(tmp_path / "o.goal").ranks == 1


def test_what_is_wrong_in_a_pipe_is_told_by_the_pipe_s_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 30)
    os.mkfifo(tmp_path / "pipe")
    wrong = pytest.raises(InputError, match=rf"^{tmp_path}/pipe:1:11: expected ")
    with subprocess.Popen(["sh", "-c", f"echo num_ranks x > {tmp_path}/pipe"]), wrong:
        Schedule.load(tmp_path / "pipe")


def test_the_command_line_reads_a_schedule_from_its_input() -> None:
    program = "import idlewave.cli as c, sys; sys.argv = ['idlewave', 'simulate', '/dev/stdin', '-m', 'odin']; c.main()"
    done = subprocess.run([sys.executable, "-c", program], input=GOAL, text=True, capture_output=True, timeout=60)
    assert done.stdout.startswith("/dev/stdin on odin: 1 ranks"), done.stderr


def test_a_trace_s_file_that_is_a_pipe_is_refused_at_once(samples, tmp_path: Path) -> None:
    restore(samples("trace"), tmp_path / "t")
    (tmp_path / "t" / "rank-0000001.iwtrace").unlink()
    os.mkfifo(tmp_path / "t" / "rank-0000001.iwtrace")
    with pytest.raises(InputError, match=r"rank-0000001.iwtrace: cannot be read as a trace: it is no file"):
        Trace.load(tmp_path / "t")


def test_a_file_that_is_too_large_is_refused_before_it_is_in_memory(tmp_path: Path) -> None:
    for name, read in (("m.toml", Machine.load), ("s.toml", Signature.load), ("p", read_placement)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2**40)
        with pytest.raises(InputError, match=rf"{name}: cannot be read as .*: expected at most 64 MiB"):
            read(tmp_path / name)
    for name in ("s.parquet", "s.csv"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2**40)
        with pytest.raises(InputError, match=rf"{name}: cannot be read as a study: expected at most 4 GiB"):
            read_study(tmp_path / name)
