"""A pair of virtual Ethernet devices, one end in this network namespace and one in another, whose rate can be switched.

It needs root, a kernel with veth and the token bucket filter, and `ip` and `tc` of iproute2.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ADDRESSES = ("198.18.77.1/30", "198.18.77.2/30")
"""Of a range that is reserved for tests of networks (RFC 2544)."""


@dataclass(frozen=True)
class VethPair:
    """The device, which has one name in both namespaces, and the name of the other namespace."""

    device: str
    namespace: str

    def set_rate(self, megabits: int) -> None:
        """Let each end send at so many Mbit/s from now on."""
        shape = ["qdisc", "replace", "dev", self.device, "root", "tbf", "rate", f"{megabits}mbit"]
        shape += ["burst", "16kb", "latency", "400ms"]
        _run("tc", *shape)
        _run("tc", "-n", self.namespace, *shape)

    def environment(self) -> dict[str, str]:
        """What makes MPICH's ranks exchange over the pair, as if they were on two nodes."""
        return {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp", "UCX_NET_DEVICES": self.device}

    def launcher(self, program: Path, folder: Path) -> Path:
        """A script in `folder` that runs `program`, MPICH's rank 1 in the other namespace."""
        script = folder / "apart"
        ip = shutil.which("ip", path=_path())
        apart = f"{ip} netns exec {self.namespace}"
        script.write_text(f'#!/bin/sh\n[ "$PMI_RANK" = 1 ] && exec {apart} {program} "$@"\nexec {program} "$@"\n')
        script.chmod(0o755)
        return script


@contextmanager
def veth_pair() -> Iterator[VethPair]:
    """Make the pair, and remove it at the end. Raises OSError or CalledProcessError where that cannot be done."""
    pair = VethPair(f"iw{os.getpid()}", f"idlewave-{os.getpid()}")
    _run("ip", "netns", "add", pair.namespace)
    try:
        _run("ip", "link", "add", pair.device, "type", "veth", "peer", "name", pair.device, "netns", pair.namespace)
        for options, address in zip(((), ("-n", pair.namespace)), ADDRESSES, strict=True):
            _run("ip", *options, "address", "add", address, "dev", pair.device)
            _run("ip", *options, "link", "set", pair.device, "up")
        _run("ip", "-n", pair.namespace, "link", "set", "lo", "up")
        yield pair
    finally:
        _run("ip", "netns", "delete", pair.namespace)  # its end goes with it, and so does the other one


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _run(program: str, *arguments: str) -> None:
    found = shutil.which(program, path=_path())
    if found is None:
        raise OSError(f"there is no {program}")
    subprocess.run([found, *arguments], check=True, capture_output=True, timeout=30)
