"""The LogGOP parameters of one range of sizes: those with which the simulator's rules give its curves.

The curves (see observations.py) by the rules, k = s - 1, o_s and o_r those of the range:

    eager        half    = h + k max(O, G),  h = o_s + L + o_r
                 gap     = max(g + kG, o_s + kO, o_r + kO)
                 send    = o_s + kO
                 receive = o_r + kO
    rendezvous   c       = half a round trip of a control message, by the base parameters
                 half    = 2c + h + k max(O, G), and more if the answer must wait for NICs that carry data
                 gap     = the longest of
                           c + h + k max(O, G)           receive, then clear to send
                           c + h + g + kG                the receiver's NIC, unless a request overtakes data
                           c + h + o_r + kO              its CPU, likewise: it takes the request after the data
                           2c + max(o_s + kO, g + kG)    the sender's call and NIC
                 send    = 2c + o_s + kO
                 receive: not seen; o_r is the base range's

Least squares of all curves at once, of relative residuals (an error of 10 ns counts at 1 B, not at 1 MB; a median
that scatters counts less), with Huber's loss (a size that a detour hit does not bend the line). docs/measuring.md
says why jointly, and what is done if a measured call lasts longer than the rules allow.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from .observations import FLOOR, Array, Curves
from .prediction import FittedParameters

HUBER = 0.03
"""Relative residuals above this count linearly, not squared."""
WORSE = 0.02
"""A bound on the gap is dropped if the mean squared residual falls by more than this squared without it."""
BENDS = 0.06
"""The relative curvature of a machine's curves between changes of protocol: values below 0 are held at 0 if that
increases the residuals by less than this (root mean square)."""

MOST_STEPS = 100
DIFFERENCE = float(np.sqrt(np.finfo(np.float64).eps))
"""A derivative is a difference over this share of a value, or over this itself for values below 1 ps."""
SAME = 1e-4
"""Two descents whose costs have a smaller relative difference have ended at the same place."""
NOTHING = 1e-6
"""The lower bound, ps, of a value in a descent that must not be negative."""
SEEN = 0.002
"""The NIC shows at a size if it lengthens the gap by at least this share; it must show at two sizes ..."""
SURELY = 25.0
"""... and the fit without the NIC must be worse by this, in squared standard errors of the gap."""
UNSURE = 9.0
"""The same limit for a g that is so large that it would show."""
SEARCH_PARTS = 32
SEARCH_ROUNDS = 4
"""The largest g that does not show is enclosed in one of so many parts of its interval, so often."""
LEAST = 1000.0
"""A median counts in a fit as at least 1 ns (in ps): by a coarse clock a call may take 0."""

BOTH: tuple[str, ...] = ("send", "receive")
SENDER: tuple[str, ...] = ("send",)
NONE: tuple[str, ...] = ()
H, SEND, RECEIVE, NIC, PER_BYTE, CPU_PER_BYTE = range(6)


@dataclass(frozen=True)
class Fit:
    """The result of a fit: the parameters (ps, ps per byte), negative ones unchanged.

    tail: the part of the send call after the message has left (ps); stall: the part of a lone receive that waits for
    the message's memory and is no work of the CPU, because a train of messages does not have it (ps). hidden:
    parameters that no curve shows. residuals: relative, by curve, of the fit to the measured calls, smaller where a
    median is uncertain. held: the increase of the residuals (root mean square) because values that fit best below 0 are
    held at 0; 0 if there are none.
    """

    parameters: FittedParameters
    tail: float
    stall: float
    hidden: tuple[str, ...]
    residuals: dict[str, Array]
    held: float

    @property
    def cost(self) -> float:
        """The sum over all curves and sizes of the squared relative residuals, large ones clipped."""
        return float(sum((np.minimum(np.abs(r), 0.5) ** 2).sum() for r in self.residuals.values()))


@dataclass(frozen=True)
class Medians:
    """The curves' medians at some sizes, and their standard errors, ps."""

    sizes: NDArray[np.int64]
    curves: Curves
    errors: Curves

    def cut(self, piece: slice, without: str = "") -> Medians:
        """A range of the sizes, with all curves except the one named."""
        names = [name for name in self.curves if name != without]
        curves = {name: self.curves[name][piece] for name in names}
        return Medians(self.sizes[piece], curves, {name: self.errors[name][piece] for name in names})

    def weights(self) -> Curves:
        """The weights of deviations: one by the median, less if its relative error is above FLOOR."""
        return {
            name: 1 / np.maximum(np.hypot(values, self.errors[name] / FLOOR), LEAST)
            for name, values in self.curves.items()
        }

    def exact_weights(self, name: str) -> Array:
        """The weights of one curve: one by the standard error, which counts as at least half a percent."""
        return np.asarray(1 / np.hypot(self.errors[name], 0.005 * np.maximum(np.abs(self.curves[name]), LEAST)))


class RangeModel:
    """The curves of one range as functions of six values: h, the calls' o_s and o_r, g, G, O."""

    def __init__(self, medians: Medians, base: FittedParameters | None, rendezvous: bool) -> None:
        self.k: Array = np.maximum(medians.sizes - 1, 0).astype(np.float64)
        self.medians = medians
        self.weights = medians.weights()
        self.base = base
        self.rendezvous = rendezvous
        self.bounds: tuple[str, ...] = BOTH
        self.values: Array = np.zeros(6)
        self.held = 0.0

    def with_base(self, base: FittedParameters | None) -> RangeModel:
        """The same model and solution on another base range."""
        other = copy(self)
        other.base, other.values = base, self.values.copy()
        if self.rendezvous and base:
            other.values[RECEIVE] = base.o_r
        return other

    def misfit(self, medians: Medians) -> Array:
        """The distances of the medians of other sizes from this solution: by size, the sum over the curves of squared
        deviations in standard errors, each at most 25."""
        other = copy(self)
        other.k = np.maximum(medians.sizes - 1, 0).astype(np.float64)
        expected = other.predict(self.values)
        off = [
            ((expected[name] - values) * medians.exact_weights(name)) ** 2 for name, values in medians.curves.items()
        ]
        return np.asarray(np.minimum(off, SURELY).sum(axis=0))

    def solve(self) -> Fit:
        """Find the values, with as many of the rules' bounds on the gap as the curves allow, and with none below 0 if
        that fits nearly as well."""
        curves = self.medians.curves
        best, lowest = self._descend(curves, BOTH)
        chosen = BOTH
        for bounds in (NONE,) if self.rendezvous else (SENDER, NONE):
            values, cost = self._descend(curves, bounds)
            if cost >= lowest:
                continue
            self.bounds = chosen
            again, with_bounds = self._descend_from(curves, [values])
            if with_bounds < lowest:
                best, lowest = again, with_bounds
            if lowest - cost > WORSE**2 * len(self.k):
                chosen, best, lowest = bounds, values, cost
        self.bounds, self.values = chosen, best
        if np.any(best < 0):
            above, cost = self._descend_from(curves, [np.maximum(best, 0.0)], least=0.0)
            costs = float(np.sqrt(max(cost - lowest, 0.0) / (len(self.k) * len(curves))))
            if costs < BENDS:
                self.values, self.held = np.where(above < NOTHING, 0.0, above), costs
        return self.fit()

    def fit(self) -> Fit:
        """The solution as parameters."""
        return self.finish(self.values, self.medians.curves)

    def predict(self, v: Array) -> Curves:
        """The curves for the six values `v`; of several sets of values (rows), a row each."""
        k = self.k
        h, send, receive, g, G, O = (v[..., i, None] for i in range(6))  # noqa: E741 - the model's own name
        wire, nic, cpu = k * np.maximum(G, O), g + k * G, k * O
        if self.rendezvous:
            return self._rendezvous(h, send, receive, wire, nic, cpu)
        gap = nic
        if "send" in self.bounds:
            gap = np.maximum(gap, send + cpu)
        if "receive" in self.bounds:
            gap = np.maximum(gap, receive + cpu)
        return {"half": h + wire, "gap": gap, "send": send + cpu, "receive": receive + cpu}

    def _rendezvous(self, h: Array, send: Array, receive: Array, wire: Array, nic: Array, cpu: Array) -> Curves:
        base, c = self.base, self._control()
        assert base is not None
        path, first_byte = h + wire, h - receive
        handshake = max(2 * c, base.g)
        request = np.maximum(send + cpu, nic) if "send" in self.bounds else nic
        arrives = request + base.o_s + base.L
        overtakes = arrives < first_byte
        held_up = np.maximum(arrives + max(base.g, base.o_r) - first_byte, 0.0)
        gap = np.maximum(c + path + np.where(overtakes, held_up, 0.0), handshake + request)
        gap = np.where(overtakes, gap, np.maximum(gap, c + h + np.maximum(nic, base.o_r + cpu)))
        answer = np.maximum(nic - wire - c - np.minimum(c, h), handshake - 2 * c)
        half = 2 * c + path + (handshake - 2 * c + answer) / 2
        return {"half": half, "gap": gap, "send": handshake + send + cpu}

    def residuals(self, v: Array, curves: Curves) -> dict[str, Array]:
        """The relative residuals by curve."""
        expected = self.predict(v)
        return {name: (expected[name] - values) * self.weights[name] for name, values in curves.items()}

    def step(self, curves: Curves) -> Callable[[Array], Array]:
        """The values as a function of the residuals of other curves at this solution: one Gauss-Newton step with
        Huber's loss. So a bootstrap need not search for every sample.
        """
        here = self._flat(self.values, curves)
        free = self._free()
        columns = []
        for i in free:
            delta = 1e-6 * max(abs(self.values[i]), 1e-3)
            moved = self.values.copy()
            moved[i] += delta
            columns.append((self._flat(moved, curves) - here) / delta)
        jacobian = np.stack(columns, axis=1)
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(np.abs(here), 1e-12)))
        scale = np.maximum(np.linalg.norm(jacobian, axis=0), 1e-30)
        # (J' W J)^-1 J', for residuals that are clipped: W r = clip(r)
        inverse = np.linalg.pinv(jacobian / scale * weights[:, None], rcond=1e-4) / weights / scale[:, None]
        begin = np.clip(here, -HUBER, HUBER)

        def stepped(residual: Array) -> Array:
            moved = self.values.copy()
            moved[free] -= inverse @ (np.clip(residual, -HUBER, HUBER) - begin)
            return moved

        return stepped

    def flat(self, curves: Curves) -> Array:
        """The residuals of `curves` at this solution, all in one array."""
        return self._flat(self.values, curves)

    def finish(self, values: Array, curves: Curves) -> Fit:
        """From the six values to parameters within the rules' bounds."""
        v = values.copy()
        hidden = self._uncover(v) + (() if "receive" in self.weights else ("o_r",))
        send, receive = float(v[SEND]), float(v[RECEIVE])
        spare = self._spare(v)
        o_r = receive if self.rendezvous or "receive" in self.bounds else min(receive, spare)
        o_s = send if "send" in self.bounds else min(send, spare)
        way = float(v[H]) - o_r
        if way < o_s and self.base is not None:
            if not self.rendezvous:
                least = self.base.o_s + self.base.L
                o_r = min(o_r, max(float(v[H]) - least, float(v[H]) / 2))
                way = float(v[H]) - o_r
                nic = np.median(self.predict(v)["gap"] - self.k * v[PER_BYTE])
                v[NIC] = max(float(nic), float(v[NIC]))
            o_s = min(max(self.base.o_s, way - self.base.L), way)
        L = way - o_s
        p = FittedParameters(L=L, o_s=o_s, o_r=o_r, g=float(v[NIC]), G=float(v[PER_BYTE]), O=float(v[CPU_PER_BYTE]))
        return Fit(p, max(send - o_s, 0.0), max(receive - o_r, 0.0), hidden, self.residuals(v, curves), self.held)

    def _spare(self, v: Array) -> float:
        """The largest o_s or o_r that does not lengthen the gap."""
        cpu = self.k * v[CPU_PER_BYTE]
        nic = v[NIC] + self.k * v[PER_BYTE]
        gap = self.predict(v)["gap"] - 2 * self._control() if self.rendezvous else nic
        return max(float(np.min(gap - cpu)), 0.0)

    def _control(self) -> float:
        base = self.base
        return base.o_s + base.L + base.o_r if self.rendezvous and base else 0.0

    def _free(self) -> list[int]:
        fixed = -1 if "receive" in self.weights else RECEIVE
        return [i for i in range(6) if i != fixed]

    def _flat(self, v: Array, curves: Curves) -> Array:
        return np.concatenate(list(self.residuals(v, curves).values()), axis=-1)

    def _descend(self, curves: Curves, bounds: tuple[str, ...]) -> tuple[Array, float]:
        self.bounds = bounds
        best, lowest = self._descend_from(curves, self._starts(curves))
        if self.rendezvous and self.base:  # the curves jump where a request may overtake data: start on both sides
            beside = [best.copy() for _ in range(4)]
            for start, g in zip(beside, (0.4 * best[NIC], 2.0 * best[NIC], self.base.g, 2 * self.base.g), strict=True):
                start[NIC] = max(g, 1.0)
            other, cost = self._descend_from(curves, beside)
            if cost < lowest:
                best, lowest = other, cost
        return best, lowest

    def _descend_from(self, curves: Curves, starts: list[Array], least: float = -np.inf) -> tuple[Array, float]:
        free = self._free()
        best, lowest = starts[0], np.inf
        for start in starts:

            def residual(x: Array, start: Array = start) -> Array:
                v = start.copy()
                v[free] = x
                return self._flat(v, curves)

            def slopes(x: Array, start: Array = start) -> Array:
                moved = x + np.copysign(DIFFERENCE, x) * np.maximum(1.0, np.abs(x))
                rows = np.tile(start, (1 + len(free), 1))
                rows[:, free] = x
                rows[1 + np.arange(len(free)), free] = moved
                here, *others = self._flat(rows, curves)
                return np.stack([(other - here) / width for other, width in zip(others, moved - x, strict=True)]).T

            scale = np.maximum(np.abs(start[free]), 1e-2)
            done = scipy.optimize.least_squares(
                residual,
                start[free],
                jac=slopes,
                loss="huber",
                f_scale=HUBER,
                x_scale=scale,
                max_nfev=MOST_STEPS,
                bounds=(least, np.inf),
            )
            agree = abs(done.cost - lowest) <= SAME * done.cost
            if done.cost < lowest:
                best, lowest = start.copy(), float(done.cost)
                best[free] = done.x
            if agree:  # two starts lead to the same place; a third would, too
                break
        return best, 2 * lowest

    def _starts(self, curves: Curves) -> list[Array]:
        c = self._control()
        w = self.weights
        half, slope = line(self.k, curves["half"], w["half"])
        send, work = line(self.k, curves["send"], w["send"])
        receive = self.base.o_r if self.rendezvous and self.base else 0.0
        if "receive" in w:
            receive = line(self.k, curves["receive"], w["receive"])[0]
        gap, G = line(self.k, curves["gap"], w["gap"])
        upper = self.k >= np.median(self.k)
        far_gap, far_G = line(self.k[upper], curves["gap"][upper], w["gap"][upper])
        handshake = half - c if self.rendezvous else 0.0
        start = np.array([half - 2 * c, send - 2 * c, receive, 0.0, 0.0, max(work, 1e-2)])
        result = []
        for nic, per_byte in ((gap, G), (far_gap, far_G), (gap, slope)):
            start[NIC], start[PER_BYTE] = max(nic - handshake, 1.0), max(per_byte, 1e-2)
            result.append(start.copy())
        return result

    def _uncover(self, v: Array) -> tuple[str, ...]:
        """A g or G that no curve shows gets the largest value that changes nothing: the CPU's own cost is the
        limit."""
        without = v.copy()
        without[NIC] = -1e30
        gap, bare = self.predict(v)["gap"], self.predict(without)["gap"]
        measured, weight = self.medians.curves["gap"], self.medians.exact_weights("gap")
        better = float(((((bare - measured) * weight) ** 2) - ((gap - measured) * weight) ** 2).sum())
        if (gap > bare * (1 + SEEN)).sum() >= 2 and (self.rendezvous or better > SURELY):
            return ()
        hidden: tuple[str, ...] = ("g",)
        if v[PER_BYTE] < v[CPU_PER_BYTE]:
            v[PER_BYTE] = v[CPU_PER_BYTE]
            hidden = ("g", "G")
        if self.rendezvous:
            v[NIC] = self._unseen(v, bare)
        else:
            bound = max(v[SEND], v[RECEIVE] if "receive" in self.bounds else v[SEND])
            v[NIC] = max(float(np.min(bound + self.k * (v[CPU_PER_BYTE] - v[PER_BYTE]))), 0.0)
        return hidden

    def _unseen(self, v: Array, bare: Array) -> float:
        """The largest g with which the gap is the same as without the NIC, within its uncertainty."""
        measured, weight = self.medians.curves["gap"], self.medians.exact_weights("gap")
        least = float((((bare - measured) * weight) ** 2).sum())
        low, high = 0.0, float(bare.max())
        for _ in range(SEARCH_ROUNDS):
            trials = np.linspace(low, high, SEARCH_PARTS + 1)
            rows = np.tile(v, (len(trials), 1))
            rows[:, NIC] = trials
            gaps = self.predict(rows)["gap"]
            worse = (((gaps - measured) * weight) ** 2).sum(axis=1) - least
            seen = (worse > UNSURE) & (gaps > bare * (1 + SEEN)).any(axis=1)
            first = max(int(seen.argmax()), 1) if seen.any() else SEARCH_PARTS
            low, high = float(trials[first - 1]), float(trials[first])
        return low


def line(k: Array, values: Array, weights: Array) -> tuple[float, float]:
    """Intercept and slope by least squares of weighted residuals."""
    if len(k) < 2 or np.ptp(k) == 0:
        return float(np.median(values)), 0.0
    design = np.stack([weights, k * weights], axis=1)
    intercept, slope = np.linalg.lstsq(design, values * weights, rcond=None)[0]
    return float(intercept), float(slope)
