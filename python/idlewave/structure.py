"""The structure of a traced program: whom a rank exchanges messages with by where it lies on a grid of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, get_args

from . import _core
from .formatting import join_words, plural, seconds_text
from .parameters import Parameter

if TYPE_CHECKING:
    import pandas as pd

Extrapolation = Literal["copies", "structure"]
Computation = Literal["fitted", "traced"]

LawRow = tuple[str, Sequence[tuple[int, float]], str, float, float, str]
"""A law: the call, (ranks, value) of the traced runs, the law, its largest relative error, the new value, and another
law that fits as well and gives another value ("": none)."""

LAW_COLUMNS = ("quantity", "unit", "call", "law", "worst_error", "traced", "continued", "other")


class StructureParameters(TypedDict, total=False):
    """How the computation of a program is continued on more ranks."""

    computation: Annotated[
        Computation,
        Parameter(
            "fitted",
            "Computation of a program that is continued by its structure follows the law of the traced runs, or stays "
            "as in the largest one (traced)",
            choices=get_args(Computation),
        ),
    ]


@dataclass(frozen=True)
class Structure:
    """What a program was continued by.

    grid: the ranks along each dimension; X, Y and Z in laws.
    traced: the grids of the traced runs, the smallest first.
    kind: `uniform`: all ranks make the same calls; `neighbours`: those for the neighbours that they have on the grid;
    `tree`: in a binary tree; `star`: of rank 0 with all others.
    peers: the rules of peers, in words: (+1, 0, 0) is the next rank along the first dimension.
    one_sided_dimensions: dimensions (0, 1, 2) along which no traced rank has neighbours on both sides. The order of
    their calls is that along the other dimensions.
    other_structure: a structure that was tried before, and that the traced runs may have as well, with rules of peers
    that are less simple; "": there was none.
    """

    grid: tuple[int, ...]
    traced: tuple[tuple[int, ...], ...]
    kind: str
    peers: tuple[str, ...]
    one_sided_dimensions: tuple[int, ...]
    sizes: tuple[LawRow, ...]
    times: tuple[LawRow, ...]
    other_structure: str = ""

    @classmethod
    def of(cls, found: _core.Continued) -> Structure:
        """The structure that the core has found."""
        return cls(
            tuple(found.grid),
            tuple(tuple(grid) for grid in found.traced),
            found.kind,
            tuple(found.peers),
            tuple(found.one_sided_dimensions),
            tuple(found.sizes),
            tuple(found.times),
            found.other_structure,
        )

    def laws(self) -> pd.DataFrame:
        """The laws of sizes and computation, a row each: quantity (size or computation), unit, call, law (X, Y and Z
        are the extents of the grid, P its ranks), worst_error (the largest difference from a traced value, relative),
        traced (a list of (ranks, value)), continued (the value on the new grid), and other (another law that fits as
        well and gives another value there; "" if there is none)."""
        import pandas as pd

        rows = [
            (quantity, unit, call, law, worst, list(traced), continued, other)
            for quantity, unit, laws in (("size", "bytes", self.sizes), ("computation", "ns", self.times))
            for call, traced, law, worst, continued, other in laws
        ]
        return pd.DataFrame(rows, columns=list(LAW_COLUMNS))

    def notes(self) -> list[str]:
        """What the continued program rests on, in sentences."""
        runs = [str(_ranks(grid)) for grid in self.traced]
        grids = ", ".join(_grid_text(grid) for grid in self.traced)
        notes = [
            f"the structure of the {'run' if len(runs) == 1 else 'runs'} with {join_words(runs)} ranks is continued: "
            f"ranks on a grid of {grids}, now {_grid_text(self.grid)}"
            + (f"; messages go to {join_words(list(self.peers))}" if self.peers else "")
        ]
        if len(runs) == 1:
            notes.append(
                "one traced run: nothing shows that the structure is the same on other numbers of ranks, and sizes and "
                "computation stay as they are (--smaller adds runs)"
            )
        else:
            notes += self._unseen()
        if self.other_structure:
            notes.append(
                f"the traces also fit {self.other_structure}: a trace with another number of ranks may show which of "
                "both is right"
            )
        changing = [row for row in self.sizes if len({value for _, value in row[1]}) > 1 or row[5]]
        notes.extend(
            f"bytes of the {call}: {_values(traced)}, here {continued:,.0f}, by {law}{f'; {other}' if other else ''}"
            for call, traced, law, _, continued, other in changing[:_MOST_SHOWN]
        )
        times = sorted(self.times, key=lambda row: -row[4])
        notes.extend(
            f"{call}: {_times(traced)}, here {seconds_text(continued / 1e9)}, by {law} ns (to {worst:.0%})"
            for call, traced, law, worst, continued, _ in times[:_MOST_SHOWN]
        )
        if more := max(0, len(changing) - _MOST_SHOWN) + max(0, len(times) - _MOST_SHOWN):
            notes.append(f"{plural(more, 'further law')}: Schedule.structure.laws() has all")
        if self.one_sided_dimensions:
            names = join_words(["XYZ"[d] for d in self.one_sided_dimensions])
            notes.append(
                f"no traced rank has neighbours on both sides along {names}; the order of its calls there is that "
                "along the other dimensions"
            )
        return notes

    def _unseen(self) -> list[str]:
        """A note on the dimensions that are longer than in any traced run, where these are all as long."""
        names = [
            name
            for name, *traced, extent in zip("XYZ", *self.traced, self.grid, strict=True)
            if len(set(traced)) == 1 and extent != traced[0]
        ]
        if not names:
            return []
        return [f"no two traced runs differ along {join_words(names)}: nothing shows what depends on the ranks there"]


_MOST_SHOWN = 4


def _ranks(grid: Sequence[int]) -> int:
    product = 1
    for extent in grid:
        product *= extent
    return product


def _grid_text(grid: Sequence[int]) -> str:
    used = list(grid)
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return " x ".join(str(extent) for extent in used)


def _values(traced: Sequence[tuple[int, float]]) -> str:
    return ", ".join(f"{value:,.0f} on {ranks}" for ranks, value in traced)


def _times(traced: Sequence[tuple[int, float]]) -> str:
    return ", ".join(f"{seconds_text(value / 1e9)} on {ranks}" for ranks, value in traced)
