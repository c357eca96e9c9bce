"""The file of one rank (NPU) of a Chakra execution trace: messages of Protocol Buffers, each behind its length.

The first message is the metadata, the others are nodes. Only the fields that are used are described here; the library
skips the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeAlias

from ..errors import InputError, LibraryError
from ..escaping import cut, name_of, quote
from ..input.files import opened

Message: TypeAlias = Any  # the library makes the classes

WHAT = "the file of a rank of a Chakra execution trace"
VERSIONS = ("0.0.4", "1.")
"""What the version of a trace begins with."""
MOST_MESSAGE = 64 << 20
"""Most bytes of a node."""
_INTEGERS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64")
_FIRST_INTEGER = 7
"""The field of the first kind of integer: the next kinds follow at every second number."""


class Node(NamedTuple):
    """A node: the byte where it begins, its id, the number of its type, the ids of nodes that must end before it, how
    many control dependencies it has, its time in µs, and its attributes that are numbers, texts or truth values."""

    at: int
    id: int
    type: int
    needs: tuple[int, ...]
    control: int
    micros: int
    attributes: dict[str, int | str | bool | list[bool]]


class NodeFile:
    """Reads the nodes of a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = name_of(path)

    def fail(self, at: int, why: str) -> NoReturn:
        """Refuse what stands at byte `at`."""
        raise InputError(f"{self.name}: byte {at}: {why}")

    def nodes(self) -> Iterator[Node]:
        """The nodes in their order. Raises InputError that names the byte, LibraryError without protobuf."""
        metadata, node = messages()
        with opened(self._path, WHAT) as file:
            first = True
            at = 0
            while (found := self._next(file, at)) is not None:
                data, begin = found
                if first:
                    self._check_version(self._parsed(metadata, data, begin, "the metadata of a trace").version, begin)
                else:
                    yield self._node(self._parsed(node, data, begin, "a node"), at)
                first = False
                at = begin + len(data)
            if first:
                self.fail(0, f"expected {WHAT}, found an empty file")

    def _next(self, file: BinaryIO, at: int) -> tuple[bytes, int] | None:
        """The next message, and the byte where it begins; None at the end of the file."""
        length, begin = 0, at
        while True:
            byte = file.read(1)
            if not byte:
                if begin == at:
                    return None
                self.fail(begin, "the file ends within the length of a message")
            length |= (byte[0] & 0x7F) << (7 * (begin - at))
            begin += 1
            if byte[0] < 0x80:
                break
            if begin - at == 5:
                self.fail(at, "expected the length of a message, found a number of more than 5 bytes")
        if not 0 < length <= MOST_MESSAGE:
            self.fail(at, f"expected a message of 1 to {MOST_MESSAGE:,} bytes, found one of {length:,}")
        data = file.read(length)
        if len(data) < length:
            self.fail(begin, f"expected a message of {length:,} bytes, found {len(data):,}: the file was cut")
        return data, begin

    def _parsed(self, kind: Message, data: bytes, at: int, what: str) -> Message:
        from google.protobuf.message import DecodeError

        message = kind()
        try:
            message.ParseFromString(data)
        except DecodeError as error:
            self.fail(at, f"expected {what} as Protocol Buffers: {cut(str(error))}")
        return message

    def _check_version(self, version: str, at: int) -> None:
        if not version.startswith(VERSIONS):
            self.fail(at, f"expected a Chakra trace of version 0.0.4 or 1, found version {quote(version)}")

    def _node(self, message: Message, at: int) -> Node:
        attributes: dict[str, int | str | bool | list[bool]] = {}
        for attribute in message.attr:
            kind = attribute.WhichOneof("value")
            if kind == "bool_list":
                attributes[attribute.name] = list(attribute.bool_list.values)
            elif kind is not None:
                attributes[attribute.name] = getattr(attribute, kind)
        needs = tuple(dict.fromkeys(message.data_deps))
        control = sum(one not in needs for one in message.ctrl_deps)
        return Node(at, message.id, message.type, needs, control, message.duration_micros, attributes)


@cache
def messages() -> tuple[Message, Message]:
    """The classes of the metadata and of a node. Raises LibraryError without the package protobuf."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as error:
        raise LibraryError("a Chakra execution trace", "protobuf", error) from error
    file = descriptor_pb2.FileDescriptorProto(name="chakra.proto", package="chakra", syntax="proto3")
    repeated, message = 3, 11
    types = dict(descriptor_pb2.FieldDescriptorProto.Type.items())

    def add(to: Message, name: str, number: int, kind: str, label: int = 1, of: str = "") -> None:
        field = to.field.add(name=name, number=number, label=label)
        field.type = message if of else types[f"TYPE_{kind.upper()}"]
        if of:
            field.type_name = f".chakra.{of}"

    add(file.message_type.add(name="Metadata"), "version", 1, "string")
    add(file.message_type.add(name="BoolList"), "values", 1, "bool", repeated)
    attribute = file.message_type.add(name="Attribute")
    add(attribute, "name", 1, "string")
    attribute.oneof_decl.add(name="value")
    values = [(kind, _FIRST_INTEGER + 2 * i, kind) for i, kind in enumerate(_INTEGERS)]
    for name, number, kind in (*values, ("bool", 27, "bool"), ("string", 29, "string")):
        add(attribute, f"{name}_val", number, kind)
    add(attribute, "bool_list", 28, "", of="BoolList")
    for field in attribute.field[1:]:
        field.oneof_index = 0
    node = file.message_type.add(name="Node")
    for name, number, kind, label in (
        ("id", 1, "uint64", 1),
        ("type", 3, "int32", 1),
        ("ctrl_deps", 4, "uint64", repeated),
        ("data_deps", 5, "uint64", repeated),
        ("duration_micros", 7, "uint64", 1),
    ):
        add(node, name, number, kind, label)
    add(node, "attr", 10, "", repeated, of="Attribute")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return (
        message_factory.GetMessageClass(pool.FindMessageTypeByName("chakra.Metadata")),
        message_factory.GetMessageClass(pool.FindMessageTypeByName("chakra.Node")),
    )
