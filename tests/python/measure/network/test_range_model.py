"""The closed form of the curves, which a fit descends, is what the simulator gives, and not another set of rules."""

from __future__ import annotations

import numpy as np
import pytest
from idlewave.measure import FittedParameters, Network
from idlewave.measure.network.fitting.observations import Curves
from idlewave.measure.network.fitting.prediction import Exchange, prtts
from idlewave.measure.network.fitting.range_model import Medians, RangeModel

TRAIN = 16
S = 512
LARGEST = (6e6, 3e6, 3e6, 6e6, 5e3, 5e3)
"""ps, and ps per byte."""


def simulated(network: Network, sizes: list[int]) -> Curves:
    """The curves by their definition, from exchanges that the simulator runs."""
    single, pauses = (prtts(network, [Exchange(n, 0.0, size) for size in sizes]) for n in (1, 2))
    train = prtts(network, [Exchange(TRAIN, 0.0, size) for size in sizes])
    paced = prtts(network, [Exchange(TRAIN, pause, size) for pause, size in zip(pauses, sizes, strict=True)])
    others = TRAIN - 1
    return {"half": single / 2, "gap": (train - single) / others, "send": (paced - single) / others - np.round(pauses)}


def closed(own: FittedParameters, sizes: list[int], base: FittedParameters | None = None) -> Curves:
    """The curves by the closed form; `base` are the parameters of control messages, of a rendezvous only."""
    some = np.ones(len(sizes))
    curves = dict.fromkeys(("half", "gap", "send") if base else ("half", "gap", "send", "receive"), some)
    model = RangeModel(Medians(np.array(sizes), curves, curves), base, base is not None)
    return model.predict(np.array([own.o_s + own.L + own.o_r, own.o_s, own.o_r, own.g, own.G, own.O]))


def assert_the_same(found: Curves, expected: Curves) -> None:
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-8), name


@pytest.mark.parametrize("seed", range(20))
def test_the_curves_of_eager_messages_are_those_of_the_simulator(seed: int) -> None:
    own = FittedParameters(*(np.random.default_rng(seed).uniform(0.1, 1, 6) * LARGEST))
    sizes = [1, 2, 100, 4096, 65_536]
    assert_the_same(closed(own, sizes), simulated(Network(((1, own),), None), sizes))


@pytest.mark.parametrize("far", [1, 6])
@pytest.mark.parametrize("seed", range(20))
def test_the_curves_of_a_rendezvous_are_those_of_the_simulator(seed: int, far: int) -> None:
    """`far`: so many times the latency of control messages, beyond which their request to send overtakes the data."""
    random = np.random.default_rng(seed)
    values = random.uniform(0.2, 1, 6) * LARGEST
    base = FittedParameters(*values)
    L, o_s, _, g, G, O = values * random.uniform(0.7, 1.4, 6)  # noqa: E741 - the field's own letter
    own = FittedParameters(far * L, o_s, base.o_r, g, G / far, O / far)
    sizes = [S + 1, 1000, 4096, 65_536]
    assert_the_same(closed(own, sizes, base), simulated(Network(((1, base), (S + 1, own)), S), sizes))
