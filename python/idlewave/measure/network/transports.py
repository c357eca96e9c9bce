"""What carries the messages of a measurement."""

from __future__ import annotations

LOCAL = ("tcp", "udp", "shm")
"""Transports that need no MPI within a node."""
TRANSPORTS = ("mpi", "put", "get", *LOCAL, "libfabric", "ucx")
EMULATED = "emulated"
