"""Steps of curves where a message extends into one more page of memory: the cost of a page in a copy by the kernel.

They are no changes of protocol. To distinguish the two, the probe begins its messages at a byte of a page for which the
steps lie at sizes that no library chooses (probes/network/slots.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .protocol_changes import find_jumps, step_at
from .range_model import Medians


@dataclass(frozen=True)
class Pages:
    """The position of messages in pages: the bytes of a page, and the byte at which every message begins."""

    size: int
    start: int

    def reached(self, before: int, size: int) -> bool:
        """Whether messages of `size` bytes extend into a page that those of `before`, one byte less, do not reach."""
        return size == before + 1 and (self.start + before) % self.size == 0


@dataclass(frozen=True)
class PageStep:
    """A step of the curves: the first size beyond it, and the additional time of a message one way, ps."""

    size: int
    height: float


@dataclass(frozen=True)
class Flattened:
    """The medians as if a page cost no more than the bytes in it; the indices at which they still jump; and the steps
    that they had, ascending."""

    medians: Medians
    jumps: list[int]
    steps: list[PageStep]


def without_page_steps(medians: Medians, pages: Pages | None) -> Flattened:
    """The medians without page steps.

    The curves before a step are raised to those behind it, because other steps beside it are found only then.
    """
    steps: dict[int, PageStep] = {}
    while True:
        jumps = find_jumps(medians)
        found = [i for i in jumps if i not in steps and pages is not None and _is_step(medians, i, pages)]
        if not found:
            return Flattened(medians, jumps, [steps[i] for i in sorted(steps)])
        i = found[0]
        heights = {name: step_at(medians, name, i).height for name in medians.curves}
        steps[i] = PageStep(int(medians.sizes[i]), heights["half"])
        raised = {name: np.concatenate([v[:i] + heights[name], v[i:]]) for name, v in medians.curves.items()}
        medians = replace(medians, curves=raised)


def _is_step(medians: Medians, i: int, pages: Pages) -> bool:
    before, size = medians.sizes[i - 1 : i + 1]
    return pages.reached(int(before), int(size)) and step_at(medians, "half", i).height > 0
