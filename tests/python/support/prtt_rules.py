"""The rules of docs/model.md for one exchange of two idle ranks, without noise: an oracle for PRTT(n,d,s), in ps.

Here parameters and times are real numbers. The emulated samples of the estimator's tests are made of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from idlewave.measure import FittedParameters, Network


@dataclass
class Rank:
    cpu: float = 0.0
    transmit: float = 0.0
    receive: float = 0.0

    def send(self, p: FittedParameters, size: int, ready: float) -> float:
        """Start a transmission as soon as CPU and NIC are free; return when its first byte arrives."""
        k = max(size - 1, 0)
        start = max(ready, self.cpu, self.transmit)
        self.cpu = start + p.o_s + k * p.O
        self.transmit = start + p.g + k * p.G
        return start + p.o_s + p.L

    def take(self, p: FittedParameters, size: int, arrival: float) -> float:
        """Receive what arrives; return when it is processed."""
        k = max(size - 1, 0)
        start = max(arrival, self.cpu, self.receive)
        self.cpu = start + p.o_r + k * p.O
        self.receive = start + p.g + k * p.G
        return start + p.o_r + k * max(p.O, p.G)


def prtt(network: Network, messages: int, delay: float, size: int) -> float:
    """PRTT(messages, delay, size) in ps by the simulator's rules; `delay` in ps."""
    rendezvous = network.S is not None and size > network.S
    client, server = Rank(), Rank()
    train = rendezvous_train if rendezvous else eager_train
    there = train(network, client, server, messages, delay, size, 0.0, 0.0)
    return train(network, server, client, 1, 0.0, size, there, client.cpu)


def eager_train(
    network: Network,
    sender: Rank,
    receiver: Rank,
    n: int,
    delay: float,
    size: int,
    ready: float,
    _posted: float,
) -> float:
    p = network.of(size)
    processed = ready
    for _ in range(n):
        processed = receiver.take(p, size, sender.send(p, size, ready))
        ready = sender.cpu + delay
    return processed


def rendezvous_train(
    network: Network,
    sender: Rank,
    receiver: Rank,
    n: int,
    delay: float,
    size: int,
    ready: float,
    posted: float,
) -> float:
    control, p = network.of(1), network.of(size)
    request = receiver.take(control, 1, sender.send(control, 1, ready))
    for i in range(n):
        clear = sender.take(control, 1, receiver.send(control, 1, max(request, posted)))
        data = sender.send(p, size, clear)
        if i == n - 1:
            break
        next_request = sender.send(control, 1, sender.cpu + delay)
        if next_request < data:  # it overtakes the data, which has the longer latency
            request = receiver.take(control, 1, next_request)
            posted = receiver.take(p, size, data)
        else:
            posted = receiver.take(p, size, data)
            request = receiver.take(control, 1, next_request)
    return receiver.take(p, size, data)
