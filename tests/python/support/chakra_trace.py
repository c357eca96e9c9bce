"""Chakra execution traces of four ranks, byte for byte as Chakra's own tools write them.

GENERATED are files of its generator (chakra.src.generator.generator --num_npus 4, of version 1.0.0). The files of
`write_chakra` are those that its Python messages (et_def_pb2) and its encodeMessage write for the same nodes:
`DIGEST` is the SHA-256 of what they wrote, one file behind the other.
"""

from __future__ import annotations

from pathlib import Path

RANKS = 4
METADATA, LOAD, COMPUTATION, SEND, RECEIVE, COLLECTIVE = 1, 2, 4, 5, 6, 7
ALL_REDUCE, REDUCE_SCATTER = 0, 7
DIGEST = "3d5e075bc5770a37990acbe5734058a2da286405083a4fcc228a441065c1838f"
GENERATED = {
    "ALL_REDUCE.0.et": (
        "070a05312e302e30400820120a414c4c5f5245445543451807520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f7479"
        "70654800520f0a09636f6d6d5f73697a6548808004"
    ),
    "ALL_REDUCE.1.et": (
        "070a05312e302e30400821120a414c4c5f5245445543451807520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f7479"
        "70654800520f0a09636f6d6d5f73697a6548808004"
    ),
    "ALL_REDUCE.2.et": (
        "070a05312e302e30400822120a414c4c5f5245445543451807520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f7479"
        "70654800520f0a09636f6d6d5f73697a6548808004"
    ),
    "ALL_REDUCE.3.et": (
        "070a05312e302e30400823120a414c4c5f5245445543451807520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f7479"
        "70654800520f0a09636f6d6d5f73697a6548808004"
    ),
    "two_comp_nodes_dependent.0.et": (
        "070a05312e302e302108181209434f4d505f4e4f444518043805520e0a0969735f6370755f6f70d801002408191209434f4d505f"
        "4e4f444518042a01183805520e0a0969735f6370755f6f70d80100"
    ),
    "two_comp_nodes_independent.0.et": (
        "070a05312e302e302108101209434f4d505f4e4f444518043805520e0a0969735f6370755f6f70d801002108111209434f4d505f"
        "4e4f444518043805520e0a0969735f6370755f6f70d80100"
    ),
    "one_remote_mem_load_node.0.et": (
        "070a05312e302e30350804120d4d454d5f4c4f41445f4e4f44451802520e0a0969735f6370755f6f70d8010052100a0b74656e73"
        "6f725f73697a65688008"
    ),
    "one_comm_send_node.0.et": (
        "070a05312e302e30360838120e434f4d4d5f53454e445f4e4f44451805520e0a0969735f6370755f6f70d8010052100a0b74656e"
        "736f725f73697a65688008"
    ),
}
"""The files of rank 0, and of one collective those of all ranks."""

Value = int | str | bool | list[bool]


def _varint(number: int) -> bytes:
    data = b""
    while number > 0x7F:
        data, number = data + bytes([number & 0x7F | 0x80]), number >> 7
    return data + bytes([number])


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _attribute(name: str, value: Value) -> bytes:
    """comm_src, comm_dst and comm_tag are of 32 bits, tensor_size has no sign, and other numbers are of 64 bits."""
    if isinstance(value, list):
        return _bytes(1, name.encode()) + _bytes(28, _bytes(1, bytes(value)))
    field = 7 if name in ("comm_src", "comm_dst", "comm_tag") else 13 if name == "tensor_size" else 9
    if isinstance(value, str):
        return _bytes(1, name.encode()) + _bytes(29, value.encode())
    return _bytes(1, name.encode()) + _number(27 if isinstance(value, bool) else field, value)


def framed(message: bytes) -> bytes:
    """A message behind its length."""
    return _varint(len(message)) + message


def metadata(version: str = "1.0.0") -> bytes:
    """The first message of a file."""
    return framed(_bytes(1, version.encode()))


def node(
    number: int,
    kind: int,
    needs: tuple[int, ...] = (),
    *,
    micros: int = 0,
    control: tuple[int, ...] = (),
    **attributes: Value,
) -> bytes:
    """A node."""
    data = (_number(1, number) if number else b"") + _bytes(2, f"node {number}".encode()) + _number(3, kind)
    for field, ids in ((4, control), (5, needs)):
        data += _bytes(field, b"".join(map(_varint, ids))) if ids else b""
    data += _number(7, micros) if micros else b""
    return framed(data + b"".join(_bytes(10, _attribute(*attribute)) for attribute in attributes.items()))


def nodes_of(rank: int) -> list[bytes]:
    """Computations beside each other, a message between two ranks, a collective of all and one of a group."""
    message = (
        node(3, SEND, (1,), comm_dst=rank + 1, comm_tag=5, comm_size=1000)
        if rank % 2 == 0
        else node(3, RECEIVE, (1,), comm_src=rank - 1, comm_tag=5, comm_size=1000)
    )
    group = "even" if rank % 2 == 0 else "odd"
    return [
        node(0, METADATA),
        node(1, COMPUTATION, (0,), micros=10, is_cpu_op=False),
        node(2, COMPUTATION, (0,), micros=4, is_cpu_op=True),
        message,
        node(4, COLLECTIVE, (3,), comm_type=ALL_REDUCE, comm_size=4096),
        node(5, COLLECTIVE, (1, 2), control=(4,), comm_type=REDUCE_SCATTER, comm_size=800, pg_name=group),
        node(6, COMPUTATION, (4, 5, 7), micros=3, num_ops=1000),
        node(7, LOAD, (0,), micros=2, tensor_size=64),
    ]


def rank_file(folder: Path, rank: int) -> Path:
    """The place of the file of a rank."""
    return folder / f"et.{rank}.et"


def write_chakra(folder: Path) -> Path:
    """The files of all ranks; returns that of rank 0."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(RANKS):
        rank_file(folder, rank).write_bytes(metadata() + b"".join(nodes_of(rank)))
    return rank_file(folder, 0)
