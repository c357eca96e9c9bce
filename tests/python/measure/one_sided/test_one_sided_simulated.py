"""A put costs in the simulation what it was measured to cost: from samples through machine.toml to the simulator."""

from __future__ import annotations

from pathlib import Path

import idlewave
import pytest
from idlewave import Machine, Schedule
from idlewave.measure.one_sided import OneSidedMeasurement, fit_one_sided, measure_one_sided, read_one_sided
from idlewave.measure.one_sided.fit import GOAL
from idlewave.measure.one_sided.machine_table import write_new_machine
from idlewave.measure.one_sided.samples import PUT
from one_sided_recordings import MESSAGES, NETWORK, Known, recorded
from tracer_support import mpich, open_mpi

PUTS = 20


def simulated_ps(machine: Machine, size: int) -> float:
    """A put and its flush, of many in a row, as the probe makes them."""

    def finish(puts: int) -> int:
        lines = [f"p{i}: put {size}b to 1" for i in range(puts)]
        lines += [f"p{i} requires p{i - 1}" for i in range(1, puts)]
        text = "\n".join(["num_ranks 2", "rank 0 {", *lines, "}", "rank 1 {", "}", ""])
        return int(idlewave.simulate(Schedule.from_goal(text), machine.with_noise(None)).finish[0])

    return (finish(PUTS + 1) - finish(1)) / PUTS


def machine_of(found: OneSidedMeasurement, back_end: str, folder: Path) -> Machine:
    file = folder / "machine.toml"
    write_new_machine(file, found, fit_one_sided(found, "mpi"), fit_one_sided(found, back_end), "measured")
    return Machine.load(file)


def errors(found: OneSidedMeasurement, back_end: str, machine: Machine) -> dict[int, float]:
    """By size, how far a simulated put is off a measured one."""
    own = found.table[(found.table["back_end"] == back_end) & (found.table["operation"] == PUT)]
    measured = own.set_index("size")["median_ps"]
    return {int(size): simulated_ps(machine, int(size)) / measured[size] - 1 for size in measured.index}


@pytest.mark.parametrize(("O", "most"), [(5.0, 1e-3), (45.0, GOAL)], ids=["by the network", "copied by the origin"])
def test_a_network_with_known_parameters_is_simulated_as_it_was_recorded(
    tmp_path: Path,
    O: float,  # noqa: E741 - LogGP's letter
    most: float,
) -> None:
    large = Known(o=2_000_000, L=3_000_000, g=2_500_000, G=30.0, O=O)
    recorded(tmp_path / "raw", {"mpi": [(0, MESSAGES)], "rma": [(0, NETWORK), (4096, large)]})
    found = read_one_sided(tmp_path / "raw")
    off = errors(found, "rma", machine_of(found, "rma", tmp_path))
    assert len(off) == 10
    assert max(map(abs, off.values())) < most


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_a_put_of_this_machine_costs_in_the_simulation_what_it_was_measured_to_cost(find, tmp_path: Path) -> None:
    found = measure_one_sided(
        find(), back_ends=["mpi", "rma"], ranks=2, seconds=0.5, epochs=1, max_size=65536, folder=tmp_path / "raw"
    )
    off = errors(found, "rma", machine_of(found, "rma", tmp_path))
    assert set(off) >= {0, 1, 1024, 65536}
    told = " ".join(fit_one_sided(found, "rma").notes)
    for size, error in off.items():
        assert abs(error) <= 1.02 * GOAL or "do not go together by the rules" in told, (size, error, told)
