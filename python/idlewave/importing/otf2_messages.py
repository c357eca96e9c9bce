"""The messages of an OTF2 archive that no event receives. Score-P has no events of MPI_Mrecv and MPI_Imrecv: these
calls receive what no other call receives."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from itertools import count

Message = tuple[int, int, int]
"""The communicator, the sender with the tag, and the bytes, as the record of a receive has them."""


class Messages:
    """Messages of all ranks that were sent and not received yet."""

    def __init__(self) -> None:
        self._numbers = count()
        self._sent: defaultdict[tuple[int, Message], deque[int]] = defaultdict(deque)
        """When each was sent, by the receiver's rank in MPI_COMM_WORLD: numbers that grow."""
        self._early: Counter[tuple[int, Message]] = Counter()
        """Messages that are received before they are sent, as clocks differ."""

    def sent(self, to: int, message: Sequence[int]) -> None:
        """A message is sent to that rank."""
        key = to, _message(message)
        if self._early[key] > 0:
            self._early[key] -= 1
        else:
            self._sent[key].append(next(self._numbers))

    def received(self, to: int, message: Sequence[int]) -> None:
        """A rank receives a message."""
        key = to, _message(message)
        if key not in self._sent:
            self._early[key] += 1
            return
        self._sent[key].popleft()
        if not self._sent[key]:
            del self._sent[key]

    def left(self, to: int) -> list[Message]:
        """Messages to that rank that no call received, in the order in which they were sent."""
        found = [
            (number, message) for (rank, message), numbers in self._sent.items() if rank == to for number in numbers
        ]
        return [message for _, message in sorted(found)]


def _message(words: Sequence[int]) -> Message:
    communicator, peer_tag, size = words
    return communicator, peer_tag, size
