"""Whatever a file holds, it is read or refused: with its name, the key, what was expected and what was found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from idlewave import InputError
from idlewave.measure.noise import spectrum
from idlewave.measure.noise.ftq import analyse_ftq
from idlewave.measure.noise.noise_recording import Detours, read_recording
from idlewave.measure.noise.signature import Signature
from idlewave.output import write_table
from idlewave.studies.table import read_study
from idlewave.trace import Trace
from input_samples import STUDY, changed, read_of
from noise_recordings import write_ftq
from reader_mutations import restore

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
