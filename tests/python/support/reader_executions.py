"""Executes readers a counted number of times, on files whose contents are damaged.

An execution has a number, on which alone, beside the seed and the reader, depends which sample is damaged and how. A
reader with small samples (`Quick`) only reads; of the files that it has read, those of every 50th number are also used,
as `Reader.read` does.

The process that executes is a child of this one: if it dies, this one still knows which files it was.
"""

from __future__ import annotations

import gc
import hashlib
import json
import mmap
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from reader_attempts import TOO_LONG, Files, Reader, attempt, limit_memory, limited
from reader_mutations import contents, damage_contents

USED = 50
"""Of so many numbers one is of files that are also used, if they are read."""
_ON_ONE_SAMPLE = 64
"""So many executions damage the same sample: the others of its files need not be written."""
_PROGRESS = 10
"""Seconds from one message on progress to the next."""
_MEMORY = Path("/dev/shm")
_NUMBER = struct.Struct("=q")


def executed(readers: Iterable[Reader], seed: int, numbers: range, found: Path) -> int:
    """Make these executions of each reader; prints how many files were read and refused. What a reader does not stand
    ends its executions, and is stored in the folder `found`. Returns the exit status: 1 if there was such a thing, 130
    if the executions were interrupted."""
    status = 0
    for reader in readers:
        with tempfile.TemporaryDirectory(prefix="idlewave-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None) as made:
            number, outcomes, said = _in_a_child(reader, seed, numbers, Path(made))
            interrupted = said == _INTERRUPTED
            if interrupted:
                said += f": continue with number {number}"
            elif said:
                stored = found / f"{reader.name}-{seed}-{number}"
                shutil.copytree(Path(made) / "x", stored, dirs_exist_ok=True)
                said += f"; execution {number}; the files are in {stored}"
        first = f" from number {numbers.start:,}" if numbers.start else ""
        tail = f"; {said}" if said else ""
        sys.stdout.write(
            f"{reader.name}: {number - numbers.start:,} executions{first}: {_counted(outcomes)}; seed {seed}{tail}\n"
        )
        sys.stdout.flush()
        if said:
            status = 1
        if interrupted:
            return 130
    return status


_INTERRUPTED = "interrupted"


def _in_a_child(reader: Reader, seed: int, numbers: range, made: Path) -> tuple[int, dict[str, int], str]:
    """The number of the execution behind the last one, or of the one that was not stood, how often there was which
    outcome, and what did not hold in the end."""
    at = mmap.mmap(-1, _NUMBER.size)
    result = made / "result"
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            result.write_text(json.dumps(_execute(reader, seed, numbers, made, at)))
            status = 0
        except BaseException:  # one of ours: what a reader raises is caught
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    handlers = {number: signal.signal(number, partial(_hand_on, process)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if ended == 0:
        number, outcomes, said = json.loads(result.read_text())
        return number, outcomes, said
    why = f"signal {-ended}" if ended < 0 else f"exit status {ended}"
    return _NUMBER.unpack(at)[0], {}, f"its process ended with {why}"


def _hand_on(process: int, number: int, _frame: object) -> None:
    os.kill(process, number)


def _execute(reader: Reader, seed: int, numbers: range, made: Path, at: mmap.mmap) -> tuple[int, Counter[str], str]:
    """The executions of these numbers; `at` has the number of the one that is made."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    folder, name = Folder(made / "x"), str(made / "x")
    tempfile.tempdir = str(made)
    (made / "out").mkdir()
    quick = reader.quick
    read = partial(quick.read, folder.path, made / "out") if quick else partial(reader.read, folder.path)
    samples = samples_of(reader, folder)
    for sample in samples:  # they are read
        folder.hold(sample)
        read()
        reader.read(folder.path)
    damaging = Damaging(reader, seed, samples)
    outcomes: Counter[str] = Counter()
    gc.freeze()
    limit_memory()
    progress = _Progress(reader.name, numbers)
    number = numbers.start
    try:
        with limited():
            for number in numbers:
                _NUMBER.pack_into(at, 0, number)
                progress.show(number, outcomes)
                files, done = damaging.files(number)
                folder.hold(files)
                outcome, said = attempt(read, name)
                if outcome == "read" and quick and number % USED == 0 and not said:
                    outcomes["used"] += 1
                    _, said = attempt(partial(reader.read, folder.path), name)
                if said == TOO_LONG:  # not if the machine was busy with other things meanwhile
                    outcome, said = attempt(partial(reader.read, folder.path), name)
                outcomes[outcome] += 1
                if said:
                    return number, outcomes, f"after {done}: {said}"
    except KeyboardInterrupt:
        return number, outcomes, _INTERRUPTED
    return numbers.stop, outcomes, ""


class Folder:
    """A folder that holds the files of a sample; what it has already is not written again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, bytes] = {}
        path.mkdir()

    def hold(self, files: Files) -> None:
        """Make `files` the ones that are there."""
        for name in [name for name in self._files if name not in files]:
            (self.path / name).unlink()
            del self._files[name]
        for name, data in files.items():
            if self._files.get(name) is data:
                continue
            if name not in self._files:
                (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            file = os.open(f"{self.path}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            try:
                os.write(file, data)
            finally:
                os.close(file)
            self._files[name] = data


def samples_of(reader: Reader, folder: Folder) -> Sequence[Files]:
    """What is damaged: the small samples of a reader, or its only one."""
    if reader.quick:
        return reader.quick.samples()
    reader.write(folder.path)
    return [contents(folder.path)]


class Damaging:
    """Damages samples."""

    def __init__(self, reader: Reader, seed: int, samples: Sequence[Files]) -> None:
        self._samples = samples
        self._key = int.from_bytes(hashlib.sha256(f"{seed}-{reader.name}".encode()).digest()[:8], "big") << 64
        self._draw = random.Random()

    def files(self, number: int) -> tuple[Files, list[tuple[str, str]]]:
        """The files of the execution with this number, and what was done to which."""
        files = dict(self._samples[number // _ON_ONE_SAMPLE % len(self._samples)])
        self._draw.seed(self._key | number)
        return files, damage_contents(files, self._draw)


class _Progress:
    """Says how far the executions are, every 10 seconds."""

    def __init__(self, name: str, numbers: range) -> None:
        self._name, self._numbers = name, numbers
        self._began = self._last = time.monotonic()

    def show(self, number: int, outcomes: Counter[str]) -> None:
        now = time.monotonic()
        if now - self._last < _PROGRESS:
            return
        self._last = now
        done = number - self._numbers.start
        rate = done / (now - self._began)
        sys.stderr.write(
            f"{self._name}: {done:,} of {len(self._numbers):,} executions, {rate:,.0f} a second: {_counted(outcomes)}\n"
        )
        sys.stderr.flush()


def _counted(outcomes: Mapping[str, int]) -> str:
    words = [f"{count:,} {outcome}" for outcome, count in outcomes.items() if outcome != "used"]
    return ", ".join(words) + (f" ({outcomes['used']:,} of those read also used)" if "used" in outcomes else "")


def execute_again(reader: Reader, seed: int, number: int) -> None:
    """Make the files of one execution again: the folder stays, and what is raised is seen."""
    made = Path(tempfile.mkdtemp(prefix="idlewave-fuzz-"))
    folder = Folder(made / "x")
    files, done = Damaging(reader, seed, samples_of(reader, folder)).files(number)
    folder.hold(files)
    (made / "out").mkdir()
    sys.stdout.write(f"{folder.path}: {done}\n")
    sys.stdout.flush()
    if reader.quick:
        reader.quick.read(folder.path, made / "out")
    reader.read(folder.path)
