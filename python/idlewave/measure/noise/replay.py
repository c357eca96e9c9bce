"""Noise as files for the simulator: a machine.toml or a noise.toml, and the files of detours that it names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...detour_file import detours_csv
from ...machine import Level, Machine, Parameters
from ...machine_file.writer import machine_toml, noise_toml
from ...noise_models import Noise
from ...output import OutputFiles
from ...provenance import Provenance
from ...provenance_in_files import comment
from ...random_noise import MixedNoise

if TYPE_CHECKING:
    from ...noise_models import Times


def write_noise(
    folder: Path, noise: Noise | MixedNoise, machine: Machine | None = None, source: Provenance | None = None
) -> Path:
    """Write a machine.toml with the network of `machine` and this noise, or without a machine a noise.toml.

    The variation of the machine is written, too. The written noise lengthens the same activities as the noise of
    `machine`. `source` is the origin of the noise.

    Returns the path of that file. Raises InputError if the simulator would refuse it.
    """
    target = folder / ("machine.toml" if machine else "noise.toml")
    sources = tuple(part for part in (source, machine.provenance if machine else None) if part is not None)
    provenance = Provenance.made(
        "machine", machine.name if machine else "", by="idlewave.measure.noise.write_noise", sources=sources
    )
    with OutputFiles() as files:

        def save_detours(file: str, starts: Times, lengths: Times) -> None:
            files.text(folder / file, detours_csv(starts, lengths))

        def save_factors(file: str, text: str) -> None:
            files.text(folder / file, text)

        if machine:
            text = machine_toml(machine.with_noise(noise), save_detours, save_factors=save_factors)
        else:
            text = noise_toml(noise, save_detours)
        files.text(target, comment(provenance) + text)
    if machine:
        Machine.load(target)
    else:
        any_network = Machine("any", Level(Parameters(L=1000, o_s=1000, o_r=1000, g=1000)))
        Machine.from_toml(f"{any_network.to_toml()}\n{text}", name=str(target), folder=folder)
    return target
