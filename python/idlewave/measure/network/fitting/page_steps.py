"""Steps of curves where a message reaches one more page of memory: what a copy by the kernel costs by the page.

They are no changes of protocol, and the probe places its messages so that the two are told apart: at a byte of a page
that makes them lie at sizes which no library chooses (probes/network/slots.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .protocol_changes import find_jumps, step_at
from .range_model import Medians


@dataclass(frozen=True)
class Pages:
    """How messages lie in memory: a page's bytes, and at which of them every message begins."""

    size: int
    start: int

    def reached(self, before: int, size: int) -> bool:
        """Whether messages of `size` bytes reach a page that those of `before`, one byte less, do not."""
        return size == before + 1 and (self.start + before) % self.size == 0


@dataclass(frozen=True)
class PageStep:
    """A step of the curves: the first size beyond it, and by how much a message takes longer one way, ps."""

    size: int
    height: float


def without_page_steps(medians: Medians, pages: Pages | None) -> tuple[Medians, list[PageStep]]:
    """The medians as if no page cost anything more than the bytes in it; and the steps, ascending.

    What lies before a step is raised to what lies behind it, for the others are found beside it only then.
    """
    steps: dict[int, PageStep] = {}
    while pages is not None:
        found = [i for i in find_jumps(medians) if i not in steps and _is_step(medians, i, pages)]
        if not found:
            break
        i = found[0]
        heights = {name: step_at(medians, name, i).height for name in medians.curves}
        steps[i] = PageStep(int(medians.sizes[i]), heights["half"])
        raised = {name: np.concatenate([v[:i] + heights[name], v[i:]]) for name, v in medians.curves.items()}
        medians = replace(medians, curves=raised)
    return medians, [steps[i] for i in sorted(steps)]


def _is_step(medians: Medians, i: int, pages: Pages) -> bool:
    before, size = medians.sizes[i - 1 : i + 1]
    return pages.reached(int(before), int(size)) and step_at(medians, "half", i).height > 0
