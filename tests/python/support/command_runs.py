"""Runs of the command line in processes of their own, which begin from one that has its libraries loaded."""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

_PRELOADED = (
    "idlewave.cli",
    "idlewave.measure",
    "idlewave.report.page",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "pandas",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
)
SECONDS = 120


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit status, what it printed and what it complained of."""

    status: int
    printed: str
    complained: str


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``idlewave`` with `arguments` in this folder, as a user would."""
    ended = run_command(list(arguments), Path.cwd(), environment={"COLUMNS": "200"} | environment)
    return subprocess.CompletedProcess(arguments, ended.status, ended.printed, ended.complained)


def run_command(
    words: list[str],
    folder: Path,
    *,
    file_limit: int | None = None,
    stdout: str | None = None,
    environment: dict[str, str] | None = None,
) -> Ended:
    """Run ``idlewave`` with `words` in `folder`.

    `file_limit`: no file gets larger than so many bytes, as on a disk that is full then. `stdout` names what the
    output goes to instead of being returned. `environment`: variables beside those of the tests.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    out, out_end = context.Pipe(duplex=False)
    err, err_end = context.Pipe(duplex=False)
    variables = os.environ | {"COLUMNS": "500"} | (environment or {})
    process = context.Process(target=_run, args=(words, str(folder), variables, file_limit, stdout, out_end, err_end))
    with ThreadPoolExecutor(2) as pool:
        process.start()
        texts = [pool.submit(_read, end) for end in (out, err)]
        out_end.close()
        err_end.close()
        process.join(SECONDS)
        late = process.is_alive()
        if late:
            process.kill()
            process.join()
        printed, complained = (text.result() for text in texts)
    assert not late, f"idlewave {' '.join(words)} did not end within {SECONDS} s: {complained}"
    assert process.exitcode is not None
    return Ended(process.exitcode, printed, complained)


def _read(end: Connection) -> str:
    pieces = []
    while piece := os.read(end.fileno(), 65536):
        pieces.append(piece)
    return b"".join(pieces).decode(errors="replace")


def _run(
    words: list[str],
    folder: str,
    variables: dict[str, str],
    file_limit: int | None,
    stdout: str | None,
    out: Connection,
    err: Connection,
) -> None:
    """In the new process: what the console script does."""
    os.chdir(folder)
    os.dup2(os.open(stdout, os.O_WRONLY) if stdout else out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    out.close()
    err.close()
    if file_limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["idlewave", *words]
    from idlewave.cli import main

    main()
