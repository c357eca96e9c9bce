"""The sources of a machine's noise by name, of which any can be left out.

They are the causes of a recording with the kernel's events (tasks, interrupts), or the sources of its signature
(periodic ones, classes of length), or those that a machine.toml lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, UsageError
from ..escaping import name_of, quote
from ..formatting import plain_time
from ..noise_models import AnyNoise, Noise, as_times
from ..noise_presets import OWN, noise_named
from ..provenance import parts_that_differ
from ..random_noise import MixedNoise, PoissonNoise

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from ..machine import Machine
    from ..measure.machine_files import Measurement
    from ..measure.noise import Detours, NoiseRecording, Signature

MOST_SOURCES = 12
"""So many sources are looked at one by one; those that are likely to cost least are one."""
OTHERS = "all others"
DEFAULT = "chic"
"""The noise whose sources are looked at where nothing else is given: of the presets it has the most."""
SECONDS, SEED = 10.0, 1
"""How much of each core is drawn of a signature's periodic sources, and from which seed."""
_LEAST_DETOURS = 50
"""A recording with fewer detours has no signature."""


@dataclass(frozen=True)
class NoiseSources:
    """The sources by name, and the noise of any of them: `of` takes their names.

    `kind` says in a word what they are: causes, or sources of a signature or of a machine.
    """

    kind: str
    names: tuple[str, ...]
    of: Callable[[Sequence[str]], AnyNoise | None]

    def noise(self, names: Iterable[str]) -> AnyNoise | None:
        """The noise of these sources; None of none."""
        chosen = [name for name in self.names if name in set(names)]
        return self.of(chosen) if chosen else None


def sources_of_machine(machine: Machine) -> NoiseSources:
    """Those of the machine's [noise]: the sources of a mixture, or of the signature of the detours that it repeats.

    Raises UsageError if it has no noise, or one source only.
    """
    noise = machine.noise
    if noise is None:
        raise UsageError(f"{quote(machine.name)} has no noise: expected a recording, a signature, or a noise by name")
    if isinstance(noise, Noise) and len(noise.starts) >= _LEAST_DETOURS:
        from ..measure.noise import Detours, fit_signature

        core = Detours(machine.name, 0, noise.starts, noise.lengths, noise.period)
        return sources_of_signature(fit_signature([core], machine.name))
    return _of_mixture(noise)


def sources_of_signature(signature: Signature, seconds: float = SECONDS, seed: int = SEED) -> NoiseSources:
    """The sources of a signature; those of several cores that have equivalent names are one."""
    members: dict[str, list[int]] = {}
    number = {id(source): place for place, source in enumerate(signature.sources)}
    taken: set[int] = set()
    for source in sorted(signature.sources, key=lambda source: -source.overhead):
        if number[id(source)] in taken:
            continue
        own = [number[id(other)] for other in signature.called(source.name)]
        members[source.name] = [place for place in own if place not in taken]
        taken |= {*own}

    def weight(name: str) -> float:
        sources = [signature.sources[place] for place in members[name]]
        return sum(source.rate_per_s * source.length.mean**2 for source in sources)

    def of(names: Sequence[str]) -> AnyNoise:
        places = {place for name in names for place in members[name]}
        chosen = tuple(source for place, source in enumerate(signature.sources) if place in places)
        return replace(signature, sources=chosen, goodness=(), checks=()).noise(seconds, seed)

    return _limited("signature", {name: weight(name) for name in members}, of)


def sources_of_recording(recordings: Sequence[NoiseRecording]) -> NoiseSources:
    """The causes of recorded detours if the kernel's events were recorded beside them, else those of the signature."""
    from ..measure.noise import detours_of, fit_signature
    from ..measure.noise.attribution import causes_by_events

    cores = [(recording, place) for recording in recordings for place in range(len(recording.cores))]
    detours = [core for recording in recordings for core in detours_of(recording)]
    recorded = [recording.cores[place] for recording, place in cores]
    if not recorded or not all(core.events is not None and len(core.events) for core in recorded):
        return sources_of_signature(fit_signature(detours, recordings[0].node))
    import numpy as np

    causes = [np.array(causes_by_events(core), dtype=object) for core in recorded]
    weights: dict[str, float] = {}
    for core, names in zip(detours, causes, strict=True):
        for name, length in zip(names.tolist(), core.lengths.tolist(), strict=True):
            weights[name] = weights.get(name, 0.0) + float(length) ** 2

    def of(names: Sequence[str]) -> AnyNoise:
        return _kept(detours, [np.isin(own, list(names)) for own in causes])

    return _limited("causes", weights, of)


def chosen_sources(
    machine: Machine,
    recording: str | Path | None = None,
    noise: str | None = None,
    folder: str | Path | None = None,
) -> NoiseSources:
    """The sources in a recording, of a noise by name, or of the machine; without any those of DEFAULT.

    If the machine was measured into `folder`, its sources are those of each core's signature. Raises UsageError for
    both a recording and a name, InputError naming a file.
    """
    if recording is not None:
        if noise is not None:
            raise UsageError("expected a recording or a noise, found both")
        return sources_in(Path(recording))
    if noise in (None, OWN) and machine.noise is not None:
        return _measured(machine, folder) or sources_of_machine(machine)
    return sources_of_machine(machine.with_noise(noise_named(noise or DEFAULT, machine)))


def _measured(machine: Machine, folder: str | Path | None) -> NoiseSources | None:
    """The sources of the measurement in the folder, if the machine has its noise; else None."""
    if folder is None or not (Path(folder) / "measurement.json").is_file():
        return None
    from ..measure.machine_files import Measurement

    measured = Measurement.load(Path(folder))
    if "noise" in parts_that_differ(machine.provenance, measured.machine().provenance):
        return None
    return _of_measurement(measured)


def sources_in(path: Path) -> NoiseSources:
    """Those of a recording of `idlewave measure noise -o` or `idlewave measure -o` (folders), or of a
    noise-signature.toml (a file). Raises InputError naming the file."""
    from ..measure.noise import Signature, read_nodes

    if path.is_file():
        return sources_of_signature(Signature.load(path))
    if (path / "measurement.json").is_file():
        from ..measure.machine_files import Measurement

        return _of_measurement(Measurement.load(path))
    recordings, problems = read_nodes(path, "detour")
    if problems:
        raise InputError(f"{name_of(path)}: {'; '.join(problems)}")
    return sources_of_recording(recordings)


def _of_measurement(measured: Measurement) -> NoiseSources:
    """The sources of the signature of each measured core."""
    from ..measure.noise import fit_signature
    from ..measure.table_rows import records

    cores = [_core(measured.noise.detours, row, measured.name) for row in records(measured.noise.cores)]
    return sources_of_signature(fit_signature(cores, measured.name))


def _core(rows: pd.DataFrame, summary: Mapping[str, Any], name: str) -> Detours:
    """The detours of one core of a measured machine."""
    from ..measure.noise import Detours

    own = rows[rows["core"] == summary["core"]]
    starts, lengths = (as_times(own[column].to_numpy()) for column in ("start_ps", "length_ps"))
    end = int((starts + lengths).max()) if len(starts) else 0
    return Detours(name, int(summary["core"]), starts, lengths, max(int(summary["duration_ps"]), end))


def _kept(detours: Sequence[Detours], chosen: Sequence[npt.NDArray[np.bool_]]) -> Noise:
    """The chosen detours of each core, end to end."""
    from ..measure.noise.signature import end_to_end

    kept = [
        replace(core, starts=core.starts[own], lengths=core.lengths[own])
        for core, own in zip(detours, chosen, strict=True)
    ]
    return end_to_end(kept)


def _of_mixture(noise: AnyNoise) -> NoiseSources:
    """The sources of a [noise] table, by what they do."""
    if isinstance(noise, PoissonNoise):
        return NoiseSources("machine", (_random_name(noise),), lambda _: noise)
    trace, random = (noise, ()) if isinstance(noise, Noise) else (noise.trace, noise.random)
    named: dict[str, Noise | PoissonNoise] = {}
    if len(trace.starts):
        named[_trace_name(trace)] = trace
    for source in random:
        name, number = _random_name(source), 2
        while name in named:
            name, number = f"{_random_name(source)} ({number})", number + 1
        named[name] = source
    quiet = Noise(as_times([]), as_times([]), trace.period, trace.phase)

    def of(names: Sequence[str]) -> AnyNoise:
        chosen = [named[name] for name in names]
        random = tuple(source for source in chosen if isinstance(source, PoissonNoise))
        recorded = next((source for source in chosen if isinstance(source, Noise)), quiet)
        return MixedNoise(recorded, random) if random else recorded

    return NoiseSources("machine", tuple(named), of)


def _trace_name(trace: Noise) -> str:
    if len(trace.starts) == 1:
        return f"every {plain_time(trace.period, 3)}, {plain_time(int(trace.lengths[0]), 3)}"
    return f"recorded, {len(trace.starts):,} detours in {plain_time(trace.period, 3)}"


def _random_name(source: PoissonNoise) -> str:
    rate = 1e12 / source.interval
    often = f"{rate:.3g}" if rate < 1000 else f"{rate:,.0f}"
    return f"random {plain_time(source.length.mean, 3)}, {often} a second"


def _limited(kind: str, weights: dict[str, float], of: Callable[[Sequence[str]], AnyNoise]) -> NoiseSources:
    """The sources by weight, the heaviest first; beyond MOST_SOURCES they are one, OTHERS."""
    ordered = sorted(weights, key=lambda name: -weights[name])
    if not ordered:
        raise InputError("noise: expected at least one source, found no detours")
    if len(ordered) <= MOST_SOURCES:
        return NoiseSources(kind, tuple(ordered), of)
    first, rest = ordered[: MOST_SOURCES - 1], ordered[MOST_SOURCES - 1 :]

    def expanded(names: Sequence[str]) -> AnyNoise:
        return of([word for name in names for word in (rest if name == OTHERS else [name])])

    return NoiseSources(kind, (*first, OTHERS), expanded)
