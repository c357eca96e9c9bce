"""What is wrong with the periodic sources that are found in a recording, if what was injected into it is known."""

from __future__ import annotations

from dataclasses import dataclass

from competing_tasks import Injected
from idlewave.measure.noise.noise_recording import Detours
from idlewave.measure.noise.peak_support import supported_peaks
from idlewave.measure.noise.signature import PERIODIC
from idlewave.measure.noise.signature_fit import checked_sources
from idlewave.measure.noise.spectrum import detour_spectrum, named_peaks

NEAR = 1e-3  # the largest relative error of a period


@dataclass(frozen=True)
class Found:
    """A source of the spectrum or of the signature."""

    where: str
    frequency: float
    least_ps: float
    most_ps: float
    doubt: str


def found_sources(core: Detours) -> list[Found]:
    peaks = supported_peaks(named_peaks(detour_spectrum([core])), [core])
    sources = [(s, c) for s, c in checked_sources(core) if s.kind == PERIODIC]
    return [
        *(Found("spectrum", peak.frequency, peak.least_ps, peak.most_ps, peak.doubt) for peak in peaks),
        *(Found("signature", 1e12 / s.period_ps, check.least_ps, check.most_ps, check.doubt) for s, check in sources),
    ]


def is_injected(found: Found, source: Injected | None) -> bool:
    return source is not None and abs(found.frequency / source.frequency - 1) <= NEAR


def wrong_sources(core: Detours, source: Injected | None) -> list[str]:
    """Sources at other periods than the injected one, and intervals that do not have its length."""
    wrong = []
    for found in found_sources(core):
        if not is_injected(found, source):
            wrong.append(f"{found.where}: a false source of {found.frequency:.6g} Hz")
        elif not found.least_ps - 1.1 * source.bias_s * 1e12 <= source.length_s * 1e12 <= found.most_ps:
            wrong.append(f"{found.where}: {source.length_s * 1e12:.4g} ps, not {found.least_ps} to {found.most_ps} ps")
    return wrong
