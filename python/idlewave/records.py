"""Frozen data classes that cost little where they are declared.

`dataclasses.dataclass` compiles the methods of every class from text. For the classes that a simulation loads this
would take longer than a small simulation, so their methods stand here, once for all of them. They do the same, and
`fields`, `replace` and `asdict` of `dataclasses` treat a record as any frozen data class.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from functools import cache
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as record  # the name by which mypy knows what the decorator does
    from inspect import Signature

__all__ = ["record"]


if not TYPE_CHECKING:

    def record(*, frozen: bool) -> Callable[[type], type]:  # noqa: ARG001 - for mypy: a record is always frozen
        """As `dataclasses.dataclass(frozen=True)`, for classes that are loaded before a simulation."""

        def declare(cls: type) -> type:
            dataclass(init=False, repr=False, eq=False)(cls)
            for name in ("init", "repr", "eq", "frozen"):  # for data classes that inherit from the record
                setattr(cls.__dataclass_params__, name, True)
            cls.__record__ = _Outline.of(cls)
            for name, method in _METHODS.items():
                if name not in cls.__dict__ or cls.__dict__[name] is None:
                    setattr(cls, name, method)
            return cls

        return declare


class _Outline(NamedTuple):
    """The fields of a record: `initial` has the name, the default and the factory of a default of each; `given` are
    those that its maker is given, `shown` those in its text, `compared` and `hashed` those that make it equal."""

    initial: tuple[tuple[str, Any, Any], ...]
    given: tuple[str, ...]
    shown: tuple[str, ...]
    compared: tuple[str, ...]
    hashed: tuple[str, ...]

    @classmethod
    def of(cls, kind: Any) -> _Outline:  # noqa: ANN401 - mypy's types do not say that a class is a data class
        """The outline of a data class."""
        all_fields = fields(kind)
        return cls(
            tuple((each.name, each.default, each.default_factory) for each in all_fields),
            tuple(each.name for each in all_fields if each.init),
            tuple(each.name for each in all_fields if each.repr),
            tuple(each.name for each in all_fields if each.compare),
            tuple(each.name for each in all_fields if (each.compare if each.hash is None else each.hash)),
        )


def _init(self: Any, /, *values: Any, **named: Any) -> None:  # noqa: ANN401 - any record
    outline = self.__record__
    given = dict(zip(outline.given, values, strict=False))
    fits = len(values) <= len(given) and named.keys() <= set(outline.given[len(values) :])
    given |= named
    state = {}
    for name, default, factory in outline.initial:
        if name in given:
            state[name] = given[name]
        elif default is not MISSING:
            state[name] = default
        elif factory is not MISSING:
            state[name] = factory()
        else:
            fits = False
    if not fits:
        _compiled_init(_declared(type(self)))(self, *values, **named)  # raises the TypeError of dataclasses
        return
    self.__dict__.update(state)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


@recursive_repr()
def _repr(self: Any) -> str:  # noqa: ANN401
    said = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__record__.shown)
    return f"{type(self).__qualname__}({said})"


def _eq(self: Any, other: Any) -> Any:  # noqa: ANN401
    if type(other) is not type(self):
        return NotImplemented
    names = self.__record__.compared
    return tuple(getattr(self, name) for name in names) == tuple(getattr(other, name) for name in names)


def _hash(self: Any) -> int:  # noqa: ANN401
    return hash(tuple(getattr(self, name) for name in self.__record__.hashed))


def _setattr(self: Any, name: str, value: object) -> None:  # noqa: ANN401
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delattr(self: Any, name: str) -> None:  # noqa: ANN401
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_fixed(self: Any, name: str) -> bool:  # noqa: ANN401
    """Whether the attribute cannot change: any of a record, and the fields of a class that inherits from one."""
    return type(self) is _declared(type(self)) or any(name == known for known, _, _ in self.__record__.initial)


def _declared(kind: type) -> type:
    """The class that was declared a record: `kind`, or one that it inherits from."""
    return next(cls for cls in kind.__mro__ if "__record__" in cls.__dict__)


@cache
def _compiled_init(cls: type) -> Any:  # noqa: ANN401 - a function of any signature
    """The function that `dataclasses` compiles for the same fields."""
    namespace = {"__qualname__": cls.__qualname__, "__module__": cls.__module__, "__doc__": cls.__doc__}
    same: Any = type(cls.__name__, (cls,), namespace)
    return dataclass(frozen=True, repr=False, eq=False)(same).__init__


class _SignatureOfFields:
    """The signature of a record, for `help` and `inspect`."""

    def __get__(self, instance: object, owner: type) -> Signature:
        from inspect import signature

        if owner.__init__ is not _init:  # type: ignore[misc]
            raise AttributeError("__signature__")
        whole = signature(_compiled_init(_declared(owner)))
        return whole.replace(parameters=list(whole.parameters.values())[1:])


_METHODS = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__signature__": _SignatureOfFields(),
}
