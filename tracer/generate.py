"""Write the C wrappers and the Fortran entry points of the functions in functions.py.

Call: ``python generate.py FOLDER``; it writes ``wrappers_c.c`` and ``wrappers_fortran.c`` there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template

from function import Function
from functions import FUNCTIONS


@dataclass(frozen=True)
class Kind:
    """The kind of an argument: its types in C, with large counts and in Fortran, and its value in C and Fortran."""

    c: str
    value: str = "{0}"
    fortran: str = "MPI_Fint*"
    fortran_value: str = "*{0}"
    large: str = ""
    large_value: str = ""
    text: bool = False
    """Fortran passes the length of a text after all arguments."""


KINDS = {
    "in": Kind("const void*", fortran="void*", fortran_value="fortran_buffer({0})"),
    "out": Kind("void*", fortran="void*", fortran_value="fortran_buffer({0})"),
    "int": Kind("int"),
    "count": Kind("int", large="MPI_Count"),
    "wide": Kind("MPI_Count", fortran="MPI_Count*"),
    "partitions": Kind("PartitionList", fortran_value="{0}"),
    "ints": Kind("const int*", fortran_value="{0}"),
    "counts": Kind(
        "const int*",
        "narrow({0})",
        fortran_value="narrow({0})",
        large="const MPI_Count*",
        large_value="wide({0})",
    ),
    "displs": Kind("const int*", fortran_value="{0}", large="const MPI_Aint*"),
    "aints": Kind("const MPI_Aint*", fortran="MPI_Aint*", fortran_value="{0}"),
    "aint": Kind("MPI_Aint", fortran="MPI_Aint*"),
    "offset": Kind("MPI_Offset", fortran="MPI_Offset*"),
    "disp": Kind("int", large="MPI_Aint"),
    "base": Kind("void*", fortran="void*", fortran_value="{0}"),
    "string": Kind(
        "const char*", "c_text({0})", fortran="char*", fortran_value="fortran_text({0}, {0}_length)", text=True
    ),
    "strings": Kind("char**", fortran="char*", fortran_value="{0}", text=True),
    "strings_of_each": Kind("char***", fortran="char*", fortran_value="{0}", text=True),
    "infos": Kind("const MPI_Info*", fortran_value="{0}"),
    "codes": Kind("int*", fortran_value="{0}"),
    "win": Kind("MPI_Win", fortran_value="PMPI_Win_f2c(*{0})"),
    "winhandle": Kind("MPI_Win*", "*{0}", fortran_value="PMPI_Win_f2c(*{0})"),
    "newwin": Kind("MPI_Win*", "*{0}", fortran_value="PMPI_Win_f2c(*{0})"),
    "file": Kind("MPI_File", fortran_value="PMPI_File_f2c(*{0})"),
    "filehandle": Kind("MPI_File*", "*{0}", fortran_value="PMPI_File_f2c(*{0})"),
    "newfile": Kind("MPI_File*", "*{0}", fortran_value="PMPI_File_f2c(*{0})"),
    "type": Kind("MPI_Datatype", fortran_value="PMPI_Type_f2c(*{0})"),
    "types": Kind("const MPI_Datatype*", "c_types({0})", fortran_value="fortran_types({0})"),
    "op": Kind("MPI_Op"),
    "info": Kind("MPI_Info"),
    "group": Kind("MPI_Group", fortran_value="PMPI_Group_f2c(*{0})"),
    "errhandler": Kind("MPI_Errhandler"),
    "comm": Kind("MPI_Comm", fortran_value="PMPI_Comm_f2c(*{0})"),
    "commhandle": Kind("MPI_Comm*", "*{0}", fortran_value="PMPI_Comm_f2c(*{0})"),
    "newcomm": Kind("MPI_Comm*", "*{0}", fortran_value="PMPI_Comm_f2c(*{0})"),
    "pendingcomm": Kind("MPI_Comm*", "record_comm_idup", fortran_value="record_comm_idup_fortran"),
    "request": Kind("MPI_Request*", "*{0}", fortran_value="PMPI_Request_f2c(*{0})"),
    "request_in": Kind("MPI_Request", fortran_value="PMPI_Request_f2c(*{0})"),
    "requests": Kind("MPI_Request*", "request_values({1}, {0})", fortran_value="fortran_request_values({1}, {0})"),
    "message": Kind("MPI_Message*", "*{0}", fortran_value="PMPI_Message_f2c(*{0})"),
    "flag": Kind("int*", "*{0}"),
    "index": Kind("int*", "*{0}"),
    "outcount": Kind("int*", "*{0}"),
    "indices": Kind("int*", fortran_value="{0}"),
    "status": Kind("MPI_Status*", "seen", fortran_value="&seen_status"),
    "unread": Kind("MPI_Status*"),
    "statuses": Kind("MPI_Status*", "seen", fortran_value="seen_statuses"),
}


@dataclass(frozen=True)
class Argument:
    """One argument of a function; `size` names the argument with the length of an array."""

    kind: str
    name: str
    size: str


def arguments(function: Function) -> list[Argument]:
    """The arguments of `function`, parsed."""
    found = []
    for text in function.arguments.split(", "):
        kind, name = text.split()
        kind, _, size = kind.partition(":")
        found.append(Argument(kind, name, size))
    return found


def value(function: Function, argument: Argument, form: str) -> str:
    """The C expression for an argument's value in `form`: "c", "large" or "fortran"."""
    kind = KINDS[argument.kind]
    pattern = kind.fortran_value if form == "fortran" else kind.value
    if form == "large" and kind.large_value:
        pattern = kind.large_value
    size = size_of(function, argument, form) if argument.size else ""
    return pattern.format(argument.name, size)


def size_of(function: Function, array: Argument, form: str) -> str:
    """The C expression for the length of an array among the function's arguments."""
    return next(value(function, a, form) for a in arguments(function) if a.name == array.size)


def fill(template: str, function: Function, form: str) -> str:
    """`template` with each `$name` replaced by that argument's value."""
    values = {a.name: value(function, a, form) for a in arguments(function)}
    values["first"] = "1" if form == "fortran" else "0"
    values["started"] = "(Started){BLOCKING}"
    if "request" in values:
        kind = "PERSISTENT" if function.name.endswith("_init") else "NONBLOCKING"
        values["started"] = f"(Started){{{kind}, {values['request']}}}"
    return Template(template).substitute(values)


def parameters(function: Function, form: str) -> str:
    """The parameter list of a wrapper."""
    listed = []
    for argument in arguments(function):
        kind = KINDS[argument.kind]
        text = {"c": kind.c, "fortran": kind.fortran, "large": kind.large or kind.c}[form]
        listed.append(f"{text} {argument.name}")
    if form == "fortran":
        listed += ["MPI_Fint* ierror", *(f"size_t {length}" for length in lengths(function))]
    return ", ".join(listed)


def lengths(function: Function) -> list[str]:
    """The lengths of texts, which Fortran passes last."""
    return [f"{a.name}_length" for a in arguments(function) if KINDS[a.kind].text]


def passed(function: Function, seen: bool, form: str) -> str:
    """The arguments as they are passed on; with `seen`, those with the statuses that the tracer reads."""
    names = ["seen" if seen and a.kind in ("status", "statuses") else a.name for a in arguments(function)]
    return ", ".join(names + (["ierror", *lengths(function)] if form == "fortran" else []))


def status_of(function: Function) -> Argument | None:
    """The status or statuses that the call fills in, if it does."""
    return next((a for a in arguments(function) if a.kind in ("status", "statuses")), None)


def c_status(function: Function, form: str) -> list[str]:
    """Statements before the call that let the tracer see statuses which the program ignores."""
    status = status_of(function)
    if status is None:
        return []
    if status.kind == "status":
        ignored = f"{status.name} == MPI_STATUS_IGNORE"
        return ["MPI_Status own;", f"MPI_Status* seen = {ignored} ? &own : {status.name};"]
    ignored = f"{status.name} == MPI_STATUSES_IGNORE"
    given = size_of(function, status, form)
    return [f"MPI_Status* seen = {ignored} ? status_scratch({given}) : {status.name};"]


def fortran_status(function: Function) -> tuple[list[str], list[str]]:
    """The same for Fortran, and statements after the call that convert the statuses to C."""
    status = status_of(function)
    if status is None:
        return [], []
    ignored = f"fortran_ignored({status.name})"
    if status.kind == "status":
        return (
            ["MPI_Fint own[FORTRAN_STATUS];", f"MPI_Fint* seen = {ignored} ? own : {status.name};"],
            ["const MPI_Status seen_status = fortran_status(seen);"],
        )
    given = size_of(function, status, "fortran")
    return (
        [f"MPI_Fint* seen = {ignored} ? fortran_status_scratch({given}, {status.name}) : {status.name};"],
        [f"const MPI_Status* seen_statuses = fortran_statuses({given}, seen);"],
    )


def record(function: Function, form: str, error: str) -> list[str]:
    """The statements that leave the call: its record, under the lock."""
    if not function.record:
        return []
    if function.despite_errors:
        error = "MPI_SUCCESS"
    left = f"{'!ahead && ' if function.frees_handle else ''}call_leave(&call, {error})"
    return [f"if ({left}) {{", fill(function.record, function, form), "}", "call_done();"]


def record_ahead(function: Function, form: str) -> list[str]:
    """The same before the call, for calls that free a handle."""
    if not function.frees_handle:
        return []
    return [
        "const bool ahead = session_has_threads();",
        "if (ahead) {",
        f"if (call_leave(&call, MPI_SUCCESS)) {fill(function.record, function, form)}",
        "session_unlock();",
        "}",
    ]


def c_wrapper(function: Function, form: str = "c") -> str:
    """The definition of ``MPI_X`` (or, for the form "large", of ``MPI_X_c``)."""
    suffix = "_c" if form == "large" else ""
    name = f"{function.name}{suffix}"
    lines = [
        f"int MPI_{name}({parameters(function, form)}) {{",
        "Call call;",
        f"if (!call_enter(&call)) return PMPI_{name}({passed(function, False, form)});",
        *c_status(function, form),
        fill(function.before, function, form),
        *record_ahead(function, form),
        f"const int error = PMPI_{name}({passed(function, True, form)});",
        *record(function, form, "error"),
        "return error;",
        "}",
    ]
    return guarded("\n".join(line for line in lines if line), function, "MPI_VERSION >= 4" if suffix else "")


def fortran_entry(function: Function, suffix: str) -> str:
    """The entry point of mpif.h and ``use mpi`` (no suffix), or of ``use mpi_f08`` (``f08_``)."""
    name = f"mpi_{function.name.lower()}_{suffix}"
    before, after = fortran_status(function)
    lines = [
        f"void p{name}({parameters(function, 'fortran')}) __attribute__((weak));",
        f"void {name}({parameters(function, 'fortran')});",
        f"void {name}({parameters(function, 'fortran')}) {{",
        "Call call;",
        "if (!call_enter(&call)) {",
        f"p{name}({passed(function, False, 'fortran')});",
        "return;",
        "}",
        *before,
        fill(function.before, function, "fortran"),
        *record_ahead(function, "fortran"),
        f"p{name}({passed(function, True, 'fortran')});",
        *after,
        *record(function, "fortran", "fortran_error(ierror)"),
        "}",
    ]
    return guarded("\n".join(line for line in lines if line), function)


def guarded(text: str, function: Function, also: str = "") -> str:
    """`text`, compiled only where the function exists."""
    condition = " && ".join(f"({c})" for c in (function.condition, also) if c)
    return f"#if {condition}\n{text}\n#endif\n" if condition else f"{text}\n"


INCLUDES = """// Written by generate.py.
#include <mpi.h>

#include "calls.h"
#include "collective.h"
#include "comm.h"
#include "file.h"
#include "lookup.h"
#include "p2p.h"
#include "request.h"
#include "session.h"
#include "window.h"
"""

EXPORTED = "#pragma GCC visibility push(default)\n"


def main(folder: Path) -> None:
    """Write both files into `folder`."""
    c = [c_wrapper(f) for f in FUNCTIONS] + [c_wrapper(f, "large") for f in FUNCTIONS if f.large]
    fortran = [fortran_entry(f, suffix) for f in FUNCTIONS for suffix in ("", "f08_", *f.fortran_names)]
    (folder / "wrappers_c.c").write_text("\n".join([INCLUDES, EXPORTED, *c]))
    (folder / "wrappers_fortran.c").write_text("\n".join([INCLUDES, '#include "fortran.h"\n', EXPORTED, *fortran]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python generate.py FOLDER")
    main(Path(sys.argv[1]))
