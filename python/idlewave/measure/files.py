"""A measurement as files: machine.toml for the simulator, and beside it everything it was made from.

machine.toml            parameters and noise, as the simulator reads them
noise.csv               the trace that machine.toml replays: start_ns,length_ns
noise-samples.parquet   every detour: core, start_ps, length_ps
network-samples.parquet every sample of the LogGP probe
measurement.json        environment, summaries, the fit with its intervals and residuals
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InputError
from ..units import exact_time, format_time
from .network import LogGP, NetworkMeasurement, Parameters, Range
from .noise import NoiseMeasurement
from .noise.replay import noise_csv

FORMAT = 1


@dataclass(frozen=True)
class Measurement:
    """A machine as measured: its noise and its network."""

    name: str
    noise: NoiseMeasurement
    network: NetworkMeasurement

    @classmethod
    def load(cls, folder: str | Path) -> Measurement:
        """Read back what write_machine wrote. Raises InputError naming the file that is missing or broken."""
        place = Path(folder)
        file = place / "measurement.json"
        said = _read_json(file)
        if said.get("format") != FORMAT:
            raise InputError(f"{file}: expected format {FORMAT}, found {said.get('format')!r}")
        try:
            noise, network = said["noise"], said["network"]
            return cls(
                said["name"],
                NoiseMeasurement(
                    _read_table(place / "noise-samples.parquet"),
                    pd.DataFrame(noise["cores"]),
                    pd.DataFrame(noise["interrupts"], columns=["core", "name", "meaning", "count"]),
                    noise["environment"],
                ),
                NetworkMeasurement(
                    _read_table(place / "network-samples.parquet"),
                    _fit_from(network["fit"]),
                    network["probe"],
                    network["environment"],
                    network["attempts"],
                ),
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"{file}: {error} is missing or of another form") from error


def write_machine(folder: str | Path, noise: NoiseMeasurement, network: NetworkMeasurement, name: str) -> Path:
    """Write the five files into `folder`, which is made if need be; return the path of machine.toml."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    noise.detours.to_parquet(place / "noise-samples.parquet", index=False)
    network.samples.to_parquet(place / "network-samples.parquet", index=False)
    trace, period = noise.trace()
    (place / "noise.csv").write_text(noise_csv(trace))
    said = json.dumps(_as_json(name, noise, network), indent=1, allow_nan=False)
    (place / "measurement.json").write_text(said)
    target = place / "machine.toml"
    target.write_text(machine_toml(name, network, period))
    return target


def machine_toml(name: str, network: NetworkMeasurement, noise_period: int) -> str:
    """The text of machine.toml; `noise_period` in ps. Times are exact, per-byte costs have six digits."""
    fit, place = network.fit, network.environment
    first = fit.ranges[0]
    where = "within one node" if network.probe["same_node"] else "between two nodes"
    library = network.probe["library"].split(",")[0]
    lines = [
        f"# Measured on {place['host']} ({place['processor']}) at {place['time']}, {where}, with {library}.",
        "# measurement.json has intervals, residuals and the environment.",
        f"name = {json.dumps(name)}",
        "",
        "[network]",
        *_parameter_lines(first),
        'S = "inf"' if fit.S is None else f"S = {fit.S}",
    ]
    for r in fit.ranges[1:]:
        kind = "rendezvous" if r.rendezvous else "eager"
        lines += ["", f"[[network.segment]]  # {kind}", f"from = {r.first}", *_parameter_lines(r)]
    lines += [
        "",
        "[noise]  # the cores' recordings, end to end",
        'kind = "trace"',
        'file = "noise.csv"',
        f'period = "{exact_time(noise_period)}"',
        'phase = "random"',
    ]
    return "\n".join(lines) + "\n"


def _parameter_lines(r: Range) -> list[str]:
    lines = []
    for name in ("L", "o_s", "o_r", "g", "G", "O"):
        value = getattr(r.parameters, name)
        low, high = r.intervals[name]
        per_byte = name in ("G", "O")
        text = f"{value / 1000:.6g}ns" if per_byte else exact_time(round(value))
        seen = f"95 %: {_shown(low)} to {_shown(high)}"
        remark = "an upper bound: no curve shows it" if name in r.hidden else seen
        lines.append(f'{name} = "{text}"'.ljust(20) + f"# {remark}")
    return lines


def _shown(picoseconds: float) -> str:
    return format_time(picoseconds, 3)


def _as_json(name: str, noise: NoiseMeasurement, network: NetworkMeasurement) -> dict[str, Any]:
    fit = network.fit
    return {
        "format": FORMAT,
        "name": name,
        "noise": {
            "overhead": noise.overhead,
            "cores": _records(noise.cores),
            "interrupts": _records(noise.interrupts),
            "notes": noise.notes,
            "environment": noise.environment,
        },
        "network": {
            "fit": {
                "S": fit.S,
                "S_bounds": fit.S_bounds,
                "ranges": [asdict(r) for r in fit.ranges],
                "repetitions": fit.repetitions,
                "steady": fit.steady,
                "notes": fit.notes,
                "medians": _records(fit.medians),
                "predictions": _records(fit.predictions),
            },
            "probe": network.probe,
            "attempts": network.attempts,
            "environment": network.environment,
        },
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict(orient="records")]


def _plain(value: Any) -> Any:  # noqa: ANN401 - a cell of a table may be anything
    return value.item() if isinstance(value, np.generic) else value


def _fit_from(said: dict[str, Any]) -> LogGP:
    ranges = []
    for entry in said["ranges"]:
        parameters = Parameters(**entry.pop("parameters"))
        intervals = {name: (low, high) for name, (low, high) in entry.pop("intervals").items()}
        lists = {name: tuple(entry.pop(name)) for name in ("hidden", "kept", "onset") if name in entry}
        ranges.append(Range(parameters=parameters, intervals=intervals, **lists, **entry))
    return LogGP(
        tuple(ranges),
        said["S"],
        pd.DataFrame(said["medians"]),
        pd.DataFrame(said["predictions"]),
        said["repetitions"],
        said["steady"],
        tuple(said["notes"]),
        tuple(said["S_bounds"]) if said.get("S_bounds") else None,
    )


def _read_json(file: Path) -> dict[str, Any]:
    try:
        said = json.loads(file.read_text())
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{file}: expected JSON: {error}") from error
    if not isinstance(said, dict):
        raise InputError(f"{file}: expected a JSON object")
    return said


def _read_table(file: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
