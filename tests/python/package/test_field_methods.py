"""Data classes compare and show themselves as those do whose methods `dataclass` compiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import idlewave
import pytest
from idlewave.field_methods import FieldMethods
from places import ROOT


def _declared(base: type, **how: bool) -> Callable[..., object]:
    @dataclass(frozen=True, **how)
    class Sample(base):  # type: ignore[misc]
        a: int
        b: tuple[int, ...] = ()
        hidden: int = field(default=0, repr=False)
        ignored: int = field(default=0, compare=False)

    return Sample


COMPILED = _declared(object)
SHARED = _declared(FieldMethods, eq=False, repr=False)
OTHER = _declared(FieldMethods, eq=False, repr=False)
VALUES = [(1,), (2,), (1, (3,)), (1, (), 5), (1, (), 0, 5)]


@pytest.mark.parametrize("one", VALUES)
@pytest.mark.parametrize("other", VALUES)
def test_values_are_equal_when_their_compared_fields_are(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert (SHARED(*one) == SHARED(*other)) == (COMPILED(*one) == COMPILED(*other))
    assert (hash(SHARED(*one)) == hash(SHARED(*other))) == (hash(COMPILED(*one)) == hash(COMPILED(*other)))


@pytest.mark.parametrize("values", VALUES)
def test_the_text_has_the_fields_that_are_to_be_shown(values: tuple[int, ...]) -> None:
    assert repr(SHARED(*values)) == repr(COMPILED(*values))


def test_another_class_with_the_same_fields_is_not_equal() -> None:
    assert SHARED(1) != OTHER(1)
    assert SHARED(1) != COMPILED(1)


def test_a_value_that_holds_itself_has_a_text() -> None:
    held: list[object] = []
    held.append(SHARED(1, held))
    assert repr(held[0]).endswith("b=[...], ignored=0)")


def test_a_changed_machine_is_another_one() -> None:
    machine = idlewave.Machine.preset("odin")
    assert machine == idlewave.Machine.preset("odin")
    assert replace(machine, name="another") != machine


def test_classes_that_share_the_methods_do_not_compile_them_and_others_do() -> None:
    """One without the other would compare by identity, or compile what is not used."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "python/idlewave").rglob("*.py")]
    declared = [found for text in sources for found in re.findall(r"^@dataclass(.*)\nclass (\w+)(.*):", text, re.M)]
    assert len(declared) > 100
    for how, name, bases in declared:
        assert ("eq=False, repr=False" in how) == ("FieldMethods" in bases), name
