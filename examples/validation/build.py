"""Builds programs of others from where they lie, and writes them into a suite for `idlewave validate`.

    python build.py -o programs --mpicc ~/mpi/bin/mpicc --network shm --network tcp comd=~/CoMD lammps=/usr/bin/lmp
    cat networks.toml programs/*.toml > suite.toml

Sources are copied before they are built, so that they stay as they are. FOLDER/NAME.toml then has what a suite says of
the program; docs/inputs.md says how networks are written. Python's standard library is all that this needs.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


class BuildError(Exception):
    """A program that cannot be built: which one, and why."""


@dataclass(frozen=True)
class Run:
    """A program of a suite: its name, its words behind the executable, and its ranks."""

    name: str
    arguments: str
    ranks: int = 2
    copies_of: str = ""


@dataclass(frozen=True)
class Executable:
    """An executable that a build makes: where, below the sources' copy, and the runs of it."""

    path: str
    runs: tuple[Run, ...]


def one_rank_and_two(name: str, one: str, two: str) -> tuple[Run, Run]:
    """The runs of a program of which each rank has as much to do on two ranks as on one: their arguments."""
    return Run(f"{name}-1", one, ranks=1), Run(f"{name}-2", two, copies_of=f"{name}-1")


@dataclass(frozen=True)
class Recipe:
    """How a program is built.

    `executables` lie below the copy of its sources, and `commands` run in its `folder`; a program without commands is
    an executable that is named itself. In commands, {mpicc}, {mpicxx} and {mpifort} are the compilers, and {jobs} how
    many may run at once. `definitions` are written below `folder` for the build, with the compilers filled in, and
    `files` where the program runs. With `one_network` it runs on one network only, since it does as much as it can in a
    given time.
    """

    executables: tuple[Executable, ...]
    commands: tuple[str, ...] = ()
    folder: str = "."
    files: tuple[tuple[str, str], ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()
    one_network: bool = False


NPB_CLASSES = {"cg": "A", "ft": "A", "is": "B", "lu": "W", "mg": "B"}
NPB_DEFINITIONS = """\
MPIFC = {mpifort}
FLINK = $(MPIFC)
FFLAGS = -O3 -fallow-argument-mismatch
FLINKFLAGS = $(FFLAGS)
MPICC = {mpicc}
CLINK = $(MPICC)
CFLAGS = -O3
CLINKFLAGS = $(CFLAGS)
CC = cc -O1
BINDIR = ../bin
RAND = randi8
"""

SNAP_INPUT = """\
! Input from namelist
&invar
  npey=2 npez=1 ichunk=4 nthreads=1 nnested=1 ndimen=3
  nx=16 lx=1.6 ny=16 ly=1.6 nz=16 lz=1.6
  nmom=2 nang=24 ng=8 epsi=1.0E-4 iitm=5 oitm=10 timedep=0 tf=1.0 nsteps=1
  mat_opt=1 src_opt=1 scatp=0 it_det=0 fluxp=0 fixup=1 soloutp=0 kplane=0 popout=0 swp_typ=0 angcpy=1 multiswp=0
/
"""

LAMMPS_INPUT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 ${length} 0 16 0 16
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
run 100
"""

# As HPL reads it, a number in each line: one problem of 1,000 in blocks of 80 on 1 x 2 ranks; of PTRANS none besides.
HPCC_INPUT = """\
Small problems, of which each takes a few seconds at most
on two ranks
HPL.out
8
1
1000
1
80
0
1
1
2
16.0
1
2
1
4
1
2
1
1
1
0
1
1
2
64
0
0
1
8
#####
0
1000
0
80
"""

RECIPES = {
    "comd": Recipe(
        (Executable("bin/CoMD-mpi", one_rank_and_two("comd", "-x 16 -y 16 -z 16", "-i 2 -x 32 -y 16 -z 16")),),
        ("cp Makefile.vanilla Makefile", "make CC={mpicc}"),
        "src-mpi",
    ),
    "minife": Recipe(
        (Executable("ref/src/miniFE.x", one_rank_and_two("minife", "nx=64 ny=64 nz=64", "nx=128 ny=64 nz=64")),),
        ("make CXX={mpicxx} CC={mpicc}",),  # one job: its makefile does not say that files need the header it writes
        "ref/src",
    ),
    "hpcg": Recipe(
        (
            Executable(
                "build/bin/xhpcg",
                one_rank_and_two("hpcg", "--nx=32 --ny=32 --nz=32 --rt=0", "--nx=32 --ny=32 --nz=32 --rt=0"),
            ),
        ),
        ("mkdir -p build", "cd build && sh ../configure Linux_MPI", "make -C build -j{jobs} CXX={mpicxx}"),
    ),
    "amg": Recipe(
        (
            Executable(
                "test/amg",
                (
                    Run("amg-1", "-n 56 56 56", ranks=1),
                    Run("amg-2", "-P 2 1 1 -n 56 56 56"),
                ),
            ),
        ),
        (
            "make CC={mpicc} INCLUDE_LFLAGS=-lm INCLUDE_CFLAGS="
            "'-O2 -DTIMER_USE_MPI -DHYPRE_HOPSCOTCH -DHYPRE_USING_PERSISTENT_COMM -DHYPRE_BIGINT'",
        ),
    ),
    "lulesh": Recipe(
        (Executable("lulesh2.0", (Run("lulesh-1", "-s 30 -i 100", ranks=1),)),),
        ("make -j{jobs} MPICXX='{mpicxx} -DUSE_MPI=1' CXXFLAGS='-O3 -I.' LDFLAGS=-O3",),
    ),
    "snap": Recipe(
        (Executable("src/gsnap", (Run("snap-2", "snap.in snap.out"),)),),
        ("make FORTRAN={mpifort} OPENMP=no",),
        "src",
        (("snap.in", SNAP_INPUT),),
    ),
    "npb": Recipe(
        tuple(
            Executable(f"NPB3.4-MPI/bin/{name}.{size}.x", (Run(f"npb-{name}-2", ""),))
            for name, size in NPB_CLASSES.items()
        ),
        (
            "mkdir -p bin && chmod +x sys/*",
            *(f"make {name} CLASS={size}" for name, size in NPB_CLASSES.items()),
        ),
        "NPB3.4-MPI",
        definitions=(("config/make.def", NPB_DEFINITIONS),),
    ),
    "lammps": Recipe(
        (
            Executable(
                "",
                one_rank_and_two(
                    "lammps",
                    "-var length 16 -in in.lj -log none -screen none",
                    "-var length 32 -in in.lj -log none -screen none",
                ),
            ),
        ),
        files=(("in.lj", LAMMPS_INPUT),),
    ),
    "hpcc": Recipe((Executable("", (Run("hpcc-2", ""),)),), files=(("hpccinf.txt", HPCC_INPUT),), one_network=True),
}


@dataclass(frozen=True)
class Compilers:
    """The compilers of an MPI library, as words of a shell."""

    mpicc: str
    mpicxx: str
    mpifort: str

    def fill(self, text: str) -> str:
        """A text of a recipe with the compilers, and with the number of processors."""
        words = {"mpicc": self.mpicc, "mpicxx": self.mpicxx, "mpifort": self.mpifort, "jobs": str(os.cpu_count() or 1)}
        for word, value in words.items():
            text = text.replace(f"{{{word}}}", value)
        return text


def compiler(name: str) -> str:
    """A compiler that the command line names, from wherever it is called; by its name alone if it is not there."""
    found = shutil.which(Path(name).expanduser())
    return shlex.quote(str(Path(found).absolute()) if found else name)


def copy_of(name: str, sources: Path, folder: Path) -> Path:
    """A new copy of a program's sources, without what was built in them."""
    copy = (folder / "build" / name).resolve()
    if copy.is_relative_to(sources.resolve()) or sources.resolve().is_relative_to(copy):
        raise BuildError(
            f"{name}: {copy}, where the sources are copied to, and {sources} lie in each other: choose -o elsewhere"
        )
    shutil.rmtree(copy, ignore_errors=True)
    built = shutil.ignore_patterns(".git", "*.o", "*.a", "*.mod")
    shutil.copytree(sources, copy, symlinks=True, ignore=built)
    for executable in RECIPES[name].executables:
        (copy / executable.path).unlink(missing_ok=True)
    return copy


def build_in(copy: Path, name: str, compilers: Compilers) -> None:
    """Builds a program in the copy of its sources."""
    recipe = RECIPES[name]
    for file, text in recipe.definitions:
        (copy / recipe.folder / file).write_text(compilers.fill(text))
    log = copy.with_suffix(".log")
    with log.open("w") as output:
        for command in map(compilers.fill, recipe.commands):
            ended = subprocess.run(
                ["sh", "-c", command],
                cwd=copy / recipe.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if ended.returncode != 0:
                raise BuildError(f"{name}: `{command}` failed; what it printed is in {log}")


def executables_of(name: str, path: Path, folder: Path, compilers: Compilers) -> list[tuple[Path, Run]]:
    """The executables of a program, with their runs. What has commands is built; else `path` is the executable."""
    recipe = RECIPES[name]
    if not path.exists():
        raise BuildError(f"{name}: {path} does not exist")
    if recipe.commands and not (path / recipe.folder).is_dir():
        raise BuildError(f"{name}: {path} has no folder {recipe.folder}: the sources of {name} were expected")
    top = path
    if recipe.commands:
        top = copy_of(name, path, folder)
        build_in(top, name, compilers)
    found = []
    for executable in recipe.executables:
        file = (top / executable.path).resolve()
        if not os.access(file, os.X_OK) or file.is_dir():
            raise BuildError(f"{name}: {file} is no executable")
        found += [(file, run) for run in executable.runs]
    return found


def entry(file: Path, run: Run, folder: Path, networks: list[str]) -> str:
    """A program as a suite has it. It runs in a folder of its own, where it may write."""
    command = ["env", "-C", str(folder.resolve()), str(file), *run.arguments.split()]
    lines = [
        "[[program]]",
        f"name = {json.dumps(run.name)}",
        f"command = {json.dumps(command)}",
        f"ranks = {run.ranks}",
    ]
    if networks:
        lines.append(f"networks = {json.dumps(networks)}")
    if run.copies_of:
        lines.append(f"copies_of = {json.dumps(run.copies_of)}")
    return "\n".join(lines) + "\n"


def parse(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Builds programs of others, and writes them into a validation suite.", allow_abbrev=False
    )
    parser.add_argument(
        "programs",
        nargs="+",
        metavar="NAME=PATH",
        help="sources, or the executable of lammps and hpcc: " + ", ".join(RECIPES),
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("programs"), help="folder to write (programs)")
    parser.add_argument("--mpicc", default="mpicc", help="C compiler of the MPI library (mpicc)")
    parser.add_argument("--mpicxx", default="mpicxx", help="C++ compiler of the MPI library (mpicxx)")
    parser.add_argument("--mpifort", default="mpifort", help="Fortran compiler of the MPI library (mpifort)")
    parser.add_argument("--network", action="append", default=[], help="a network on which they run (all of the suite)")
    return parser.parse_args(words)


def named_programs(words: list[str]) -> dict[str, Path]:
    """The programs of the command line, and where they are."""
    named: dict[str, Path] = {}
    for word in words:
        name, _, path = word.partition("=")
        if name not in RECIPES or not path:
            raise BuildError(f"{word}: NAME=PATH was expected, with one of the names {', '.join(RECIPES)}")
        if name in named:
            raise BuildError(f"{word}: {name} is named twice")
        named[name] = Path(path).expanduser()
    return named


def write_program(name: str, path: Path, output: Path, compilers: Compilers, networks: list[str]) -> Path:
    """Builds a program, and writes what a suite says of it on these networks to the file that is returned."""
    if RECIPES[name].one_network:
        networks = networks[:1]
    entries = []
    for file, run in executables_of(name, path, output, compilers):
        folder = output / "runs" / run.name
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, text in RECIPES[name].files:
            (folder / file_name).write_text(text)
        entries.append(entry(file, run, folder, networks))
    written = output / f"{name}.toml"
    written.write_text("".join(f"\n{text}" for text in entries))
    return written


def main() -> int:
    """Builds what the command line names."""
    arguments = parse(sys.argv[1:])
    compilers = Compilers(compiler(arguments.mpicc), compiler(arguments.mpicxx), compiler(arguments.mpifort))
    try:
        for name, path in named_programs(arguments.programs).items():
            print(f"{name} …", flush=True)
            written = write_program(name, path, arguments.output, compilers, arguments.network)
            print(f"written: {written}")
    except (BuildError, OSError) as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
