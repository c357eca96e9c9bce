"""Whatever a file holds or is, it is read or refused: with its name, the key, what was expected and what was found."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reader_fuzz
from click.testing import CliRunner
from idlewave import InputError, Machine, Schedule, carried
from idlewave.carried import picture_metadata
from idlewave.cli import cli, terminal
from idlewave.errors import IdlewaveError, OutputError, UsageError
from idlewave.export import plot_timeline, writer_for
from idlewave.input import files
from idlewave.measure import Measurement
from idlewave.measure.network.files.network_files import load_network
from idlewave.measure.network.job.clocks import read_clocks
from idlewave.measure.noise import spectrum
from idlewave.measure.noise.ftq import analyse_ftq
from idlewave.measure.noise.noise_recording import Detours, read_recording
from idlewave.measure.noise.signature import Signature
from idlewave.output import write_table
from idlewave.placement_file import read_placement
from idlewave.plotting import new_figure
from idlewave.quoting import printable, quote
from idlewave.report.figures import png_of, svg_of
from idlewave.report.page import build
from idlewave.reporting import report_data
from idlewave.schedule import convert
from idlewave.study_table import read_study
from idlewave.trace import Trace
from idlewave.units import parse_cost, parse_time
from noise_recordings import write_ftq
from reader_mutations import restore
from test_cli import run

NETWORK = '[network]\nL = "5.3us"\no = "2.3us"\ng = "2us"\nG = "2.5ns"\nO = "1ns"\nS = 65536\n'
TRACE = '[noise]\nkind = "trace"\nfile = "{}"\nperiod = "1s"\n'
DETOURS = "start_ns,length_ns\n1,2\n"
ESCAPES = "\x1b[31m\u202e\x07"
STUDY = pd.DataFrame(
    {
        "ranks": [4, 4],
        "noise": [False, True],
        "seed": [0, 1],
        "finish_ps": [10, 12],
        "messages": [3, 3],
        "seconds": [0.1, 0.1],
    }
)


def changed(folder: Path, file: str, *path: str | int, to: object) -> None:
    """Set one value of a file of JSON."""
    said = json.loads((folder / file).read_text())
    place = said
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    (folder / file).write_text(json.dumps(said))


# Units


@pytest.mark.parametrize("text", ["1e999999999s", "1e400s", "1e99s", "9223372036854775808ps", "-107e6s"])
@pytest.mark.parametrize("parse", [parse_time, parse_cost])
def test_a_time_beyond_106_days_is_refused_before_its_digits_are_written_out(parse, text: str) -> None:
    with pytest.raises(ValueError, match=rf"expected a time of at most 106 days, found '{text}'"):
        parse(text)


@pytest.mark.parametrize("parse", [parse_time, parse_cost])
def test_a_time_is_of_at_most_100_characters_and_its_exponent_no_less_than_minus_400(parse) -> None:
    with pytest.raises(ValueError, match="expected an exponent of at least -400, found '1e-999999999s'"):
        parse("1e-999999999s")
    with pytest.raises(ValueError, match="expected a time of at most 100 characters, found '0000"):
        parse("0" * 100_000 + "s")
    assert parse("1e-400s") == 0


def test_the_longest_time_fits_into_64_bits() -> None:
    assert parse_time("9223372036854775807ps") == 2**63 - 1
    assert parse_time("9.2e6s") == 9_200_000_000_000_000_000


@pytest.mark.parametrize(("key", "text"), [("L", "1e999999999s"), ("G", "1e400s"), ("O", "1e400s"), ("g", "107e5s")])
def test_a_machine_s_parameter_that_is_too_large_is_refused_with_its_key(key: str, text: str) -> None:
    lines = [f'{key} = "{text}"' if line.startswith(f"{key} =") else line for line in NETWORK.splitlines()]
    with pytest.raises(InputError, match=rf"m.toml: network.{key}: expected a time .*found '{text}'"):
        Machine.from_toml("\n".join(lines), name="m.toml")


# Contents


def read_of(name: str) -> Callable[[Path], object]:
    return next(reader for reader in reader_fuzz.READERS if reader.name == name).read


TEXTS = [
    ("machine", "machine.toml"),
    ("signature", "signature.toml"),
    ("detour", "detour.json"),
    ("ftq", "ftq.json"),
    ("measurement", "measurement.json"),
    ("network", "network.json"),
    ("probe", "loggp.json"),
    ("probe", "environment.json"),
    ("pairs", "pairs.json"),
    ("clocks", "clocks.json"),
    ("trace", "trace.json"),
]


@pytest.mark.parametrize(("name", "file"), TEXTS)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[" * 100_000, r"(levels|not TOML)"),
        (b'{"a": ' * 1000 + b"1" + b"}" * 1000, r"(levels|not TOML)"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, r"levels"),
        (b'{"a": ' + b"7" * 5000 + b"}", r"(digits|not TOML)"),
        (b"a = " + b"7" * 5000, r"digits"),
        (b"a" + b".a" * 5000 + b" = 1", r"(JSON|parts)"),
        (b"\n\xff\n", r":2: expected UTF-8, found the byte 0xff"),
        (b"", r"expected"),
    ],
)
def test_deep_nesting_long_numbers_and_other_bytes_are_refused_with_the_file(
    samples, tmp_path: Path, name: str, file: str, content: bytes, words: str
) -> None:
    restore(samples(name), tmp_path / "x")
    (tmp_path / "x" / file).write_bytes(content)
    with pytest.raises(InputError, match=rf"{file}\b.*{words}"):
        read_of(name)(tmp_path / "x")


@pytest.mark.parametrize(
    ("name", "file", "path", "value", "words"),
    [
        ("detour", "detour.json", ("cores", 0, "duration_ns"), 1e308, r"cores\[0\].duration_ns: expected a number"),
        ("detour", "detour.json", ("cores", 0, "begin_ps"), 1e308, r"cores\[0\].begin_ps: expected a number"),
        (
            "detour",
            "detour.json",
            ("cores", 0, "cpu"),
            -1,
            r"cores\[0\].cpu: expected a whole number from 0 on, found -1",
        ),
        ("detour", "detour.json", ("cores", 1, "cpu"), 0, r"cores\[1\].cpu: expected different cores, found 0 again"),
        ("detour", "detour.json", ("cores", 0, "duration_ns"), 9.2e15, "cores: expected .*at most 106 days in all"),
        ("ftq", "ftq.json", ("quantum_ns",), 1e308, "quantum_ns: expected a number above 0"),
        ("fwq", "fwq.json", ("cores", 0, "columns"), ["duration_ps"] * 2, "columns: expected different names"),
        ("measurement", "measurement.json", ("name",), 7, "name: expected a text, found 7"),
        ("measurement", "measurement.json", ("noise",), [], r"noise: expected a JSON object, found \[\]"),
        ("measurement", "measurement.json", ("noise", "cores", 0, "duration_ps"), "1", "duration_ps: expected a whole"),
        ("measurement", "measurement.json", ("noise", "cores", 0, "duration_ps"), 0, "duration_ps: expected a whole"),
        ("measurement", "measurement.json", ("noise", "environment", "affinity"), "all", "affinity: expected a list"),
        ("measurement", "measurement.json", ("network", "fit", "S"), 1e308, "network.fit.S: expected a whole number"),
        (
            "measurement",
            "measurement.json",
            ("network", "fit", "ranges", 1, "first"),
            0,
            r"ranges\[1\].first: expected",
        ),
        ("measurement", "measurement.json", ("node_ranks",), 0, "node_ranks: expected a whole number from 1 on"),
        ("network", "network.json", ("network", "attempts"), True, "network.attempts: expected a whole .*found true"),
        ("probe", "loggp.json", ("foreign_load", "client"), [-1], r"foreign_load.client\[0\]: expected a number"),
        ("pairs", "pairs.json", ("ranks",), [], "ranks: expected a list of at least one rank"),
        ("clocks", "clocks.json", ("tables", "bursts", "columns"), ["a"] * 3, "columns: expected different names"),
        ("trace", "trace.json", ("command",), "ls", "command: expected a list, found 'ls'"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_file_and_key(
    samples, tmp_path: Path, name: str, file: str, path: tuple[str | int, ...], value: object, words: str
) -> None:
    restore(samples(name), tmp_path / "x")
    changed(tmp_path / "x", file, *path, to=value)
    with pytest.raises(InputError, match=rf"{file}: .*{words}"):
        read_of(name)(tmp_path / "x")


def test_a_quantum_of_absurd_work_and_an_absurdly_long_recording_take_no_more_memory(tmp_path, monkeypatch) -> None:
    write_ftq(tmp_path / "ftq", [np.zeros(3000)], 1e-4)
    work = np.full(3000, 10_000, dtype="<i8")
    work[7] = 2**62
    work.tofile(tmp_path / "ftq" / "ftq-cpu0.i64")
    assert analyse_ftq(read_recording(tmp_path / "ftq")).cores[0].full == 10_000
    long = Detours("here", 0, np.array([5], dtype=np.int64), np.array([10], dtype=np.int64), 9 * 10**18)
    monkeypatch.setattr(spectrum, "_MOST_BINS", 1000)
    assert len(spectrum.binned_loss(long, 1e-8)) == 1000


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cores = [0, 1]", 'cores = "all"', "cores: expected a list"),
        ("core = 0", "core = 1.5", r"source\[0\].core: expected a whole number from 0 on, found 1.5"),
        ("period_ps = 4000000000.0", "period_ps = nan", r"source\[0\].period_ps: expected a number of ps.*found nan"),
        ("share = 0.9", "share = 2", r"source\[0\].share: expected a number from 0 to 1, found 2"),
        ("numbers = [1000000.0]", "numbers = [inf]", r"source\[0\].length.numbers\[0\]: expected .*, found inf"),
        ("numbers = [1000000.0]", "numbers = [1, 2]", r"source\[0\].length: expected 1 numbers of fixed"),
        ("numbers = [1000000.0]", 'numbers = "x"', r"source\[0\].length.numbers: expected a list"),
        ("length = {", "length = 5 #", r"source\[0\].length: expected a table"),
        ("jitter_ps", "jiter_ps", r"source\[0\].jiter_ps is not known here; expected core, jitter_ps"),
    ],
)
def test_a_signature_with_wrong_types_is_refused_with_file_and_key(
    samples, tmp_path: Path, old: str, new: str, words: str
) -> None:
    text = (samples("signature") / "signature.toml").read_text()
    assert old in text
    (tmp_path / "s.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=rf"s.toml: {words}"):
        Signature.load(tmp_path / "s.toml")


def test_damaged_metadata_of_parquet_harm_nobody(tmp_path: Path) -> None:
    write_table(tmp_path / "s.parquet", pa.Table.from_pandas(STUDY, preserve_index=False), {"pandas": '{"columns": 7'})
    pd.testing.assert_frame_equal(read_study(tmp_path / "s.parquet"), STUDY)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_a_parquet_that_is_cut_off_or_overwritten_is_refused_with_its_name(tmp_path: Path, part: float) -> None:
    write_table(tmp_path / "s.parquet", STUDY)
    data = (tmp_path / "s.parquet").read_bytes()
    (tmp_path / "s.parquet").write_bytes(data[: int(part * len(data))])
    with pytest.raises(InputError, match=r"s.parquet: cannot be read as a study: "):
        read_study(tmp_path / "s.parquet")
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    (tmp_path / "s.parquet").write_bytes(data[:footer] + bytes(64) + data[footer + 64 :])
    with pytest.raises(InputError, match=r"s.parquet: "):
        read_study(tmp_path / "s.parquet")


def test_a_host_that_is_not_utf_8_is_shown_with_its_bytes(samples, tmp_path: Path) -> None:
    restore(samples("trace"), tmp_path / "t")
    file = tmp_path / "t" / "rank-0000001.iwtrace"
    data = bytearray(file.read_bytes())
    data[144:152] = b"n\xff\x1b[31mZ"
    file.write_bytes(data)
    assert Trace.load(tmp_path / "t").processes["host"].tolist() == ["node0", "n\\xff\\x1b[31mZ"]


# Tables


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("ranks", [4, -4], r"ranks: row 2: expected a whole number from 1 to 4294967294, found '?-4"),
        ("ranks", [0, 4], r"ranks: row 1: expected a whole number from 1 "),
        (
            "finish_ps",
            [-10, 5],
            r"finish_ps: row 1: expected a whole number from 0 to 9[0-9]{18}, found '?-10",
        ),
        ("noise", ["abc", "no"], r"noise: .*expected true or false"),
        ("seconds", [0.1, float("nan")], r"seconds: row 2: expected a number from 0 on, found nothing"),
        ("seconds", [0.1, float("inf")], r"seconds: row 2: expected a number from 0 on, found inf"),
        ("seed", [0, -1], r"seed: row 2: expected a whole number from 0 "),
        ("messages", ["3", "many"], r"messages: .*expected a whole number from 0 on"),
    ],
)
def test_a_study_with_nonsense_in_it_is_refused_with_column_and_row(
    tmp_path: Path, ending: str, column: str, values: list[object], words: str
) -> None:
    file = tmp_path / f"s.{ending}"
    write_table(file, STUDY.assign(**{column: values}))
    with pytest.raises(InputError, match=rf"s.{ending}: {words}"):
        read_study(file)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_study_without_rows_or_a_column_is_refused_by_the_report(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"s.{ending}"
    for table, words in (
        (STUDY.iloc[:0], "expected at least 1 row, found none"),
        (STUDY.drop(columns="noise"), "noise"),
    ):
        write_table(file, table)
        done = CliRunner().invoke(cli, ["report", "--study", str(file), "-o", str(tmp_path / "r")])
        assert isinstance(done.exception, InputError)
        assert words in str(done.exception)
        assert not (tmp_path / "r").exists()


def test_a_study_that_is_written_is_read_back(tmp_path: Path) -> None:
    for ending in ("csv", "parquet"):
        write_table(tmp_path / f"s.{ending}", STUDY)
        pd.testing.assert_frame_equal(read_study(tmp_path / f"s.{ending}"), STUDY)


@pytest.mark.parametrize("word", ["-1", "4294967296", "1.5", "x", "9" * 5000, "\u0663"])
def test_a_placement_of_what_is_no_number_is_refused_with_its_line(tmp_path: Path, word: str) -> None:
    (tmp_path / "p").write_text(f"0 1\n0 {word} 2\n")
    with pytest.raises(InputError, match=r"/p:2: expected whole numbers from 0 to 4294967295, found '"):
        read_placement(tmp_path / "p")


# Files that data names


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

    monkeypatch.setattr(carried, "opened", lambda *_: Silent())
    with pytest.raises(InputError, match="nothing is there to be read"):
        carried.read_provenance(tmp_path / "kmsg")


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


# Words of data in messages and pictures


def test_every_error_s_message_is_without_control_characters_but_ends_of_lines() -> None:
    for kind in (IdlewaveError, InputError, UsageError, idlewave.ProgramError):
        assert str(kind(f"a{ESCAPES}b\nc\udcff")) == "a\\x1b[31m\\u202e\\x07b\nc\\xff"
    assert str(OutputError(f"x\n{ESCAPES}", "full")) == "x\\x0a\\x1b[31m\\u202e\\x07: cannot be written: full"


def test_what_is_quoted_is_cut_at_200_characters() -> None:
    assert quote("x" * 201) == "'" + "x" * 200 + "…'"
    with pytest.raises(InputError) as raised:
        Machine.from_toml(NETWORK.replace("5.3us", "x" * 10_000))
    assert len(str(raised.value)) < 400
    with pytest.raises(InputError) as raised:
        Machine.from_toml(NETWORK + "y" * 900 + " = 1\n")
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "call",
    [
        lambda name: Machine.preset(name),
        lambda name: Machine.load(name),
        lambda name: Schedule.load(name),
        lambda name: Schedule.pattern(name, ranks=4),
        lambda name: Schedule.pattern("bcast", ranks=4, algorithm=name),
        lambda name: Schedule.from_goal("num_ranks 1\n" + name),
        lambda name: Schedule.from_goal("num_ranks 1\nrank 0 {\n" + "z" * 5000 + "!", name=name),
        lambda name: Trace.load(name),
        lambda name: Machine.from_toml(NETWORK, name=name).with_noise_reaches([name]).core(),
        lambda name: idlewave.simulate(Schedule.pattern("bcast", ranks=2), Machine.preset("odin"), scheduler=name),
        lambda name: Machine.from_toml(f'{NETWORK}["{name}"]\n'.replace("\x1b", "\\u001b").replace("\x07", "\\u0007")),
        lambda name: read_recording(name),
        lambda name: read_clocks(name),
        lambda name: load_network(name),
        lambda name: Measurement.load(name),
        lambda name: Signature.load(name),
        lambda name: read_study(name),
    ],
)
def test_names_in_messages_are_escaped_and_cut(call: Callable[[str], object]) -> None:
    with pytest.raises(IdlewaveError) as raised:
        call(ESCAPES + "n" * 3000)
    said = str(raised.value)
    assert printable(said, keep="") == said
    assert len(said) < 1500


def test_a_deadlock_s_labels_are_cut() -> None:
    label = "w" * 5000
    goal = f"num_ranks 2\nrank 0 {{\n{label}: recv 8b from 1\n}}\nrank 1 {{\n}}\n"
    with pytest.raises(idlewave.Deadlock) as raised:
        idlewave.simulate(Schedule.from_goal(goal), Machine.preset("odin"))
    assert "w" * 200 + "…" in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_the_command_line_escapes_what_it_quotes(tmp_path: Path) -> None:
    name = tmp_path / f"{ESCAPES}[b]\n.toml"
    name.write_text(NETWORK.replace("5.3us", "[bold]\\u001b"))
    for arguments in (
        ("simulate", "bcast", "--ranks", "2", "-m", str(name)),
        ("simulate", "bcast", "--ranks", "2", f"--{ESCAPES}"),
        ("simulate", str(name), "-m", "odin"),
    ):
        done = run(*arguments)
        assert done.returncode in (1, 2)
        assert "\\x1b" in done.stderr
        assert "Traceback" not in done.stderr
        assert printable(done.stderr) == done.stderr


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_names_of_machines_and_schedules_neither_act_on_a_terminal_nor_forge_a_line(
    command: str, tmp_path: Path
) -> None:
    machine, goal = tmp_path / "m.toml", tmp_path / f"g{ESCAPES}\n.goal"
    name = "x\\u001b[31m\\nerror: forged\\r" + "n" * 5000
    machine.write_text(
        f'name = "{name}"\n{NETWORK}'.replace("[network]", '[network]\nmeasured = "within a node"\nranks = 1')
    )
    goal.write_text("num_ranks 2\nrank 0 {\ncalc 5\n}\nrank 1 {\ncalc 5\n}\n")
    done = run(command, str(goal), "-m", str(machine))
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    assert "g\\x1b[31m\\u202e\\x07\\x0a.goal on x\\x1b[31m\\x0aerror: forged\\x0dnnn" in first
    assert "n…: 2 ranks" in first
    for text in (done.stdout, done.stderr):
        assert printable(text) == text
        assert not any(line.startswith("error:") for line in text.splitlines())
    assert "n… was measured within a node of 1 ranks" in done.stderr


def test_what_is_shown_while_one_waits_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("a\nb")
    terminal.say_note("a\nb")
    terminal.show_table(pd.DataFrame({"x": ["c\nd"]}), "e\nf")
    shown = capsys.readouterr()
    assert "a\\x0ab\n" in shown.out
    assert "c\\x0ad" in shown.out
    assert "e\\x0af" in shown.out
    assert shown.err == "note: a\\x0ab\n"


def test_a_file_whose_name_is_not_utf_8_is_read_and_named(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/n\xff.goal")
    Path(path).write_text("num_ranks 1\nrank 0 {\ncalc 5\n}\n")
    schedule = Schedule.load(path)
    assert schedule.ranks == 1
    Path(path).write_text("no schedule")
    with pytest.raises(InputError, match=r"n\\xff.goal:1:1: expected 'num_ranks'"):
        Schedule.load(path)


def test_tables_and_lines_show_markup_and_controls_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say(f"host {ESCAPES}[bold]x[/][/]:bomb:")
    assert capsys.readouterr().out == "host \\x1b[31m\\u202e\\x07[bold]x[/][/]:bomb:\n"
    terminal.show_table(pd.DataFrame({"host[/]": [f"{ESCAPES}[/red]"]}), f"t[/]{ESCAPES}")
    said = capsys.readouterr().out
    assert "\\x1b[31m\\u202e\\x07[/red]" in said
    assert printable(said) == said


def test_the_report_shows_no_controls_and_no_markup_of_data(tmp_path: Path) -> None:
    data = report_data(None, None, None, STUDY, title=f"<b>{ESCAPES}")
    page = build(data, tmp_path).read_text()
    assert "&lt;b&gt;\\x1b[31m\\u202e\\x07" in page
    assert printable(page) == page


def test_pictures_show_labels_that_look_like_formulas_or_controls() -> None:
    figure = new_figure(2)
    axes = figure.subplots()
    axes.bar(["$\\frac{$", "b$"], [1, 2])
    axes.set_title(f"$\\x$ {ESCAPES}")
    axes.plot([0, 1], [1, 2], label="$a_{b$")
    axes.legend()
    assert svg_of(figure).startswith("<?xml")
    assert png_of(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_a_picture_with_any_name_in_its_title_is_well_formed(form: str, tmp_path: Path) -> None:
    machine, schedule = Machine.preset("odin"), Schedule.pattern("bcast", ranks=2)
    ops = idlewave.simulate(schedule, machine, record=True).ops_to_arrow()
    file = tmp_path / f"x.{form}"
    writer_for(file)(ops, f"<a>&{ESCAPES}\n\ufffe\uffff\udcff")
    data = file.read_bytes()
    assert b"\x1b[31m" not in data
    if form == "svg":
        title = ElementTree.fromstring(data).find(".//{*}title")
        assert title is not None
        assert title.text == "<a>&\\x1b[31m\\u202e\\x07\\x0a\\ufffe\\uffff\\xff"


def test_pictures_of_all_kinds_say_what_they_are_in_printable_words() -> None:
    for form in ("svg", "png", "pdf"):
        said = picture_metadata(form, None, ESCAPES)
        assert said["Title"] == "\\x1b[31m\\u202e\\x07"


def test_a_timeline_s_title_may_look_like_a_formula() -> None:
    machine, schedule = Machine.preset("odin"), Schedule.pattern("bcast", ranks=2)
    ops = idlewave.simulate(schedule, machine, record=True).ops_to_arrow()
    assert png_of(plot_timeline(ops, title="$\\undefined{$"))
