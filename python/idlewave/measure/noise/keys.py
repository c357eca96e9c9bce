"""What a probe's JSON must say, checked when it is read, so that nothing is missing when it is used."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import InputError

PROBES = ("detour", "ftq", "fwq")
COLUMNS = {"detour": ("start_ps", "length_ps"), "ftq": ("work",), "fwq": ("start_ps", "duration_ps")}
"""What each probe's table has at least."""

Check = Callable[[object], bool]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_columns(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_interrupts(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(entry, dict) and _is_number(entry.get("count")) and isinstance(entry.get("meaning"), str)
        for entry in value.values()
    )


_WHOLE: tuple[Check, str] = (_is_whole, "a whole number")
_TEXT: tuple[Check, str] = (lambda value: isinstance(value, str), "a text")
_NUMBER: tuple[Check, str] = (_is_number, "a number")
_AMOUNT: tuple[Check, str] = (
    lambda value: _is_number(value) and value >= 0,  # type: ignore[operator]
    "a number that is not negative",
)
_TIME: tuple[Check, str] = (
    lambda value: _is_number(value) and value > 0,  # type: ignore[operator]
    "a number above 0",
)
_YES_OR_NO: tuple[Check, str] = (lambda value: isinstance(value, bool), "true or false")
_COLUMNS: tuple[Check, str] = (_is_columns, "a list of texts")
_INTERRUPTS: tuple[Check, str] = (_is_interrupts, "an object of {count, meaning} each")

_OF_EACH_CORE = {
    "cpu": _WHOLE,
    "file": _TEXT,
    "columns": _COLUMNS,
    "duration_ns": _AMOUNT,
    "dropped": _AMOUNT,
    "cpu_busy_s": _NUMBER,
    "own_cpu_s": _NUMBER,
    "steal_s": _NUMBER,
}
_OF_A_CORE = {
    "detour": {
        "duration_ns": _TIME,
        "resolution_ns": _AMOUNT,
        "threshold_ns": _AMOUNT,
        "dropped_ns": _AMOUNT,
        "involuntary_switches": _AMOUNT,
        "interrupts": _INTERRUPTS,
    },
    "ftq": {},
    "fwq": {},
}
_OF_ALL_PROBES = {"interrupted": _YES_OR_NO}
_OF_ALL = {
    "detour": {"counter": _TEXT, "clock_source": _TEXT},
    "ftq": {"quantum_ns": _TIME},
    "fwq": {},
}
_IF_SAID = {"rows": _AMOUNT, "begin_ps": _NUMBER, "interrupts": _INTERRUPTS}
_IF_SAID_OF_ALL = {"rank": _WHOLE, "ranks": _WHOLE}


def read_said(file: Path, probe: str) -> dict[str, Any]:
    """The JSON of `probe`, with all that is used of it. Raises InputError that names the file, the key, and what was
    expected.
    """
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{file}: expected JSON: {error}") from error
    if not isinstance(said, dict) or not isinstance(said.get("cores"), list):
        raise InputError(f"{file}: expected an object with a list of cores")
    if not said["cores"]:
        raise InputError(f"{file}: cores: expected at least one")
    for number, entry in enumerate(said["cores"]):
        _check_core(f"{file}: cores[{number}]", probe, entry)
    _check(f"{file}: ", said, _OF_ALL_PROBES | _OF_ALL[probe])
    _check_if_said(f"{file}: ", said, _IF_SAID_OF_ALL)
    return said


def _check_core(where: str, probe: str, entry: object) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object, found {entry!r}")
    _check(f"{where}.", entry, _OF_EACH_CORE)
    _check(f"{where}.", entry, _OF_A_CORE[probe])
    _check_if_said(f"{where}.", entry, _IF_SAID)
    missing = [name for name in COLUMNS[probe] if name not in entry["columns"]]
    if missing:
        raise InputError(f"{where}.columns: expected {', '.join(missing)} among them, found {entry['columns']}")


def _check(where: str, said: dict[str, Any], expected: dict[str, tuple[Check, str]]) -> None:
    for key, (check, words) in expected.items():
        if not check(said.get(key)):
            raise InputError(f"{where}{key}: expected {words}, found {said.get(key)!r}")


def _check_if_said(where: str, said: dict[str, Any], expected: dict[str, tuple[Check, str]]) -> None:
    _check(where, said, {key: rule for key, rule in expected.items() if said.get(key) is not None})
