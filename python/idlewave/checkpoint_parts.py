"""Checkpoints of a command that makes several runs, one after the other: each run has a directory of its own.

A restart repeats no run that has finished, except for the time since its last checkpoint.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .errors import InputError
from .escaping import name_of, quote
from .input.validation import read_json
from .input.value_types import Closed, Whole
from .kernel import RunConfiguration
from .output import OutputFiles
from .tolerance_samples import Sample

SAMPLES = "samples.json"
"""The file of the finished simulations of a search."""
_LATEST = "latest"
"""The file of the kernel that names the last complete checkpoint of a run."""


def part_of(options: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The options of the run `name`: its checkpoints are in that directory, below that of all runs.

    On a restart a run without a checkpoint begins anew.
    """
    own = dict(options)
    if options["checkpoint"] is not None:
        own["checkpoint"] = Path(options["checkpoint"]) / name
        own["restart"] = options["restart"] and _has_checkpoint(own["checkpoint"])
    return own


def check_parts(options: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise InputError for a restart without any checkpoint, and for a new run where there is one."""
    if options["checkpoint"] is None:
        return
    directory = Path(options["checkpoint"])
    begun = any(_has_checkpoint(directory / name) for name in names)
    if options["restart"] and not begun:
        raise InputError(f"{name_of(directory)}: there is no checkpoint to go on from")
    if begun and not options["restart"]:
        raise InputError(
            f"{name_of(directory)}: there is a checkpoint already; a restart goes on from it, and another run needs "
            "another directory"
        )


def _has_checkpoint(directory: Path) -> bool:
    """Whether the directory has the checkpoint of a run, or of a search."""
    return any(directory.glob(_LATEST)) or any(directory.glob(SAMPLES)) or any(directory.glob(f"latency-*/{_LATEST}"))


class _SampleSchema(Closed):
    added: Whole
    time: Whole
    slope: Whole


class _SamplesSchema(Closed):
    description: str
    samples: list[_SampleSchema]


class SampleCheckpoints:
    """The checkpoints of a search: a file of the simulations that have finished, and a directory for the present one.

    Without a checkpoint directory in the options it does nothing.
    """

    def __init__(self, options: Mapping[str, Any], description: str) -> None:
        """`description` names the search in one line. Raises InputError for the checkpoint of another search."""
        self._options = options
        self._description = description
        self._known: dict[int, Sample] = {}
        check_parts(options, [""])
        if options["restart"] and (self._directory / SAMPLES).exists():
            self._read(self._directory / SAMPLES)

    @property
    def _directory(self) -> Path:
        return Path(self._options["checkpoint"])

    def known(self, added: int) -> Sample | None:
        """The finished simulation with that added latency."""
        return self._known.get(added)

    def configuration(self, added: int) -> RunConfiguration:
        """The run configuration of the simulation with that added latency."""
        return RunConfiguration.of(part_of(self._options, f"latency-{added}"))

    def finished(self, sample: Sample) -> None:
        """Write a finished simulation to the file, and remove the checkpoint that it had while it ran."""
        if self._options["checkpoint"] is None:
            return
        self._known[sample.added] = sample
        samples = [asdict(each) for each in self._known.values()]
        with OutputFiles() as files:
            files.json(self._directory / SAMPLES, {"description": self._description, "samples": samples})
        shutil.rmtree(self._directory / f"latency-{sample.added}", ignore_errors=True)

    def _read(self, file: Path) -> None:
        found = read_json(file, _SamplesSchema, "the simulations of a latency tolerance")
        if found.description != self._description:
            other, own = quote(found.description), quote(self._description)
            raise InputError(f"{name_of(file)}: description: expected this search, {own}, found {other}")
        self._known = {each.added: Sample(each.added, each.time, each.slope) for each in found.samples}
