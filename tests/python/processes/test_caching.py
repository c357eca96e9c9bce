"""What is compiled once is used while it is what was compiled, and made again if it is not."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path

import pytest
from idlewave import mpi, wait_notices
from idlewave.errors import MpiError, OutputError

COMPILER = """#!/bin/sh
echo run >> {log}
{body}
for word in "$@"; do target=$word; done
echo compiled > "$target"
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> mpi.Mpi:
    """An MPI whose compiler only writes that it was there."""
    monkeypatch.setenv("IDLEWAVE_CACHE", str(tmp_path / "cache"))
    compiler = tmp_path / "mpicc"
    found = mpi.Mpi(tmp_path / "mpiexec", compiler, compiler, mpi.OPEN_MPI, "5.0")
    compile_by(found, "")
    return found


def compile_by(site: mpi.Mpi, body: str) -> None:
    site.mpicc.write_text(COMPILER.format(log=site.mpicc.with_name("log"), body=body))
    site.mpicc.chmod(0o755)


def runs(site: mpi.Mpi) -> int:
    log = site.mpicc.with_name("log")
    return len(log.read_text().splitlines()) if log.exists() else 0


def words_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log has that is shown without -v."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_it_is_compiled_once(site: mpi.Mpi) -> None:
    assert mpi.build(site, "transport") == mpi.build(site, "transport")
    assert runs(site) == 1


@pytest.mark.parametrize("damage", ["garbage", "", None])
@pytest.mark.parametrize("ending", ["", ".sha256"])
def test_what_is_damaged_cut_off_or_gone_is_made_again(site: mpi.Mpi, damage: str | None, ending: str) -> None:
    product = mpi.build(site, "transport")
    hurt = product.with_name(product.name + ending)
    hurt.unlink() if damage is None else hurt.write_text(damage)
    assert mpi.build(site, "transport").read_text() == "compiled\n"
    assert runs(site) == 2
    mpi.build(site, "transport")
    assert runs(site) == 2


@pytest.mark.parametrize("ending", ["", ".sha256"])
def test_a_folder_in_its_place_makes_way(site: mpi.Mpi, ending: str) -> None:
    product = mpi.build(site, "transport")
    hurt = product.with_name(product.name + ending)
    hurt.unlink()
    (hurt / "in").mkdir(parents=True)
    assert mpi.build(site, "transport").read_text() == "compiled\n"
    assert runs(site) == 2
    mpi.build(site, "transport")
    assert runs(site) == 2


def test_its_hash_is_one_that_sha256sum_reads(site: mpi.Mpi) -> None:
    product = mpi.build(site, "transport")
    subprocess.run(["sha256sum", "--check", "--quiet", f"{product.name}.sha256"], cwd=product.parent, check=True)


def test_a_compiler_that_fails_is_quoted_and_leaves_nothing(site: mpi.Mpi) -> None:
    compile_by(site, "echo transport.c:1: nonsense >&2; exit 1")
    with pytest.raises(MpiError, match=r"could not be built with .*\ntransport.c:1: nonsense"):
        mpi.build(site, "transport")
    assert [file.name for file in (site.mpicc.parent / "cache").rglob("*") if file.is_file()] == [".lock"]


def test_a_full_disk_is_told_with_the_file_and_what_to_do(site: mpi.Mpi) -> None:
    compile_by(site, "echo 'ld: final link failed: No space left on device' >&2; exit 1")
    words = (
        r"libidlewave-transport.so: cannot be written: No space left on device; "
        r"name another place with IDLEWAVE_CACHE"
    )
    with pytest.raises(OutputError, match=words):
        mpi.build(site, "transport")


def test_a_place_that_cannot_be_made_is_told_so(site: mpi.Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    (site.mpicc.parent / "file").write_text("")
    monkeypatch.setenv("IDLEWAVE_CACHE", str(site.mpicc.parent / "file" / "cache"))
    with pytest.raises(OutputError, match="Not a directory; name another place with IDLEWAVE_CACHE"):
        mpi.build(site, "transport")


def test_without_a_home_a_place_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("IDLEWAVE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(OutputError, match="IDLEWAVE_CACHE"):
        mpi.cache_directory()


def test_who_waits_for_a_compiler_is_told_what_for(
    site: mpi.Mpi, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "idlewave")
    compile_by(site, "sleep 0.3")
    monkeypatch.setattr(wait_notices, "PATIENCE", 0.05)
    mpi.build(site, "transport")
    assert words_in(caplog) == ["compiling libidlewave-transport.so for Open MPI 5.0, once …"]


def test_who_does_not_wait_is_told_nothing(site: mpi.Mpi, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "idlewave")
    mpi.build(site, "transport")
    assert words_in(caplog) == []
