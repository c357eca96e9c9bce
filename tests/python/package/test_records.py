"""A record does what a data class of `dataclasses` does that is frozen."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import pytest
from idlewave import Machine, Parameters, PatternOptions
from idlewave.records import record


def declared(how: Any) -> Any:
    @how(frozen=True)
    class Sample:
        """A sample."""

        number: int
        text: str = field(repr=False)
        items: list[int] = field(default_factory=list, compare=False)
        last: int = 4
        _own: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            if self.number < 0:
                raise ValueError("a number from 0 on")

    return Sample


def heir(kind: Any, how: Any = lambda cls: cls) -> Any:
    return how(type("Heir", (kind,), {"__annotations__": {"more": int}, "more": 3}))


CASES: dict[str, Callable[[Any], object]] = {
    "positional": lambda c: c(1, "x", [2], 3),
    "by name": lambda c: vars(c(last=1, text="x", number=2)),
    "one is missing": lambda c: c(1),
    "two are missing": lambda c: c(),
    "too many": lambda c: c(1, 2, 3, 4, 5),
    "twice": lambda c: c(1, number=2),
    "unknown": lambda c: c(1, "x", other=3),
    "not to be given": lambda c: c(1, "x", _own=[]),
    "refused": lambda c: c(-1, "x"),
    "replace": lambda c: replace(c(1, "x"), last=9),
    "replace what is unknown": lambda c: replace(c(1, "x"), other=9),
    "replace what is not to be given": lambda c: replace(c(1, "x"), _own=[]),
    "asdict": lambda c: asdict(c(1, "x")),
    "fields": lambda c: [(each.name, each.init, each.repr, each.compare) for each in fields(c)],
    "equal": lambda c: (c(1, "x") == c(1, "x", [3]), c(1, "x") == c(2, "x"), c(1, "x") == 1),
    "hash": lambda c: (hash(c(1, "x")) == hash(c(1, "x", [3])), len({c(1, "x"), c(1, "x"), c(1, "y")})),
    "set": lambda c: setattr(c(1, "x"), "number", 2),
    "set a new one": lambda c: setattr(c(1, "x"), "other", 2),
    "delete": lambda c: delattr(c(1, "x"), "number"),
    "copy": lambda c: copy.deepcopy(c(1, "x", [1])),
    "signature": inspect.signature,
    "documentation": lambda c: c.__doc__,
    "positions": lambda c: c.__match_args__,
    "parameters": lambda c: c.__dataclass_params__,
    "heir": lambda c: heir(c)(1, "x"),
    "heir, set": lambda c: setattr(heir(c)(1, "x"), "number", 1),
    "heir, set a new one": lambda c: setattr(heir(c)(1, "x"), "other", 1),
    "heir, signature": lambda c: inspect.signature(heir(c)),
    "heir, unknown": lambda c: heir(c)(1, "x", other=2),
    "heir, data class": lambda c: heir(c, dataclass(frozen=True))(1, "x", more=5),
    "heir, data class, signature": lambda c: inspect.signature(heir(c, dataclass(frozen=True))),
    "heir, not frozen": lambda c: heir(c, dataclass),
}


def found(case: Callable[[Any], object], kind: Any) -> str:
    try:
        return repr(case(kind))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_as_a_data_class(case: Callable[[Any], object]) -> None:
    assert found(case, declared(record)).replace(" at 0x", "") == found(case, declared(dataclass)).replace(" at 0x", "")


def test_public_records_are_documented_and_pickled() -> None:
    assert str(inspect.signature(Parameters)).startswith("(L: 'int', o_s: 'int', o_r: 'int', g: 'int', G: 'float' = 0")
    assert "compute_ns" in str(inspect.signature(PatternOptions))
    machine = Machine.preset("odin")
    assert pickle.loads(pickle.dumps(machine)) == machine
