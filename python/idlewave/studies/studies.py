"""`idlewave.study`: a study of one's own program when it is called, and a method for each named study."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..machine import Machine
from ..simulation import as_machine
from .algorithm_times import (
    ALGORITHMS,
    COLLECTIVES,
    SEEDS,
    SEGMENTS,
    SIZES,
    AlgorithmPlan,
    algorithm_cases,
    noise_for,
)
from .algorithm_times import MACHINE as ALGORITHMS_MACHINE
from .algorithm_times import RANKS as ALGORITHMS_RANKS
from .benchmark_error import BENCHMARK_ERROR, CLOCK_ERROR_NS, MACHINE, RANKS, REPETITIONS, benchmark_cases
from .case_runner import OnProgress, Running, run_cases
from .noise_study import APPLICATION_RANKS, NOISE, NoisePlan, noise_cases
from .noise_study import MACHINE as NOISE_MACHINE
from .noise_study import PROGRAMS as NOISE_PROGRAMS
from .noise_study import RANKS as NOISE_RANKS
from .noise_study import SEEDS as NOISE_SEEDS
from .noise_study import SIZES as NOISE_SIZES
from .programs import GENERATED, ProgramSettings
from .run_study import run_study
from .study import study as simulate_study
from .thinning import MACHINE as THINNING_MACHINE
from .thinning import PROGRAM as THINNING_PROGRAM
from .thinning import RANKS as THINNING_RANKS
from .thinning import SEEDS as THINNING_SEEDS
from .thinning import ThinningPlan, thinning_cases, thinning_study

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

    from ..ft_pattern import FtCosts
    from ..noise_models import AnyNoise
    from ..schedule import Schedule
    from ..variation import Variation
    from .idle_wave import OwnProgram, WavePlan
    from .machines import MachinesPlan


class Studies:
    """`idlewave.study(schedule, machine, …)` simulates a program at several numbers of ranks, with many seeds of noise.

    The methods are the named studies, one a command `idlewave study NAME`; each returns its table. Those that take a
    `folder` store what they find there: what is in the folder is not computed again, so that an interrupted study
    continues. Cases run on `workers` threads (default: one a core), or on `executor`, any
    `concurrent.futures.Executor`.
    """

    __name__ = "study"

    __call__ = staticmethod(simulate_study)
    __signature__ = signature(simulate_study)  # which would lack its first parameter, as that of a method

    def algorithms(
        self,
        machine: Machine | str | Path = ALGORITHMS_MACHINE,
        *,
        collectives: Sequence[str] = COLLECTIVES,
        ranks: Sequence[int] = ALGORITHMS_RANKS,
        sizes: Sequence[int] = SIZES,
        segments: Sequence[int] = SEGMENTS,
        reduction_cost: float = 0.0,
        noise: str | AnyNoise | Literal[False] | None = None,
        seeds: int = SEEDS,
        seed: int = 0,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """How long each collective takes by each algorithm (docs/studies/algorithms.md), without noise and with it.

        `noise` is a name as of `idlewave.noise_presets.noise_named`, or noise; None: that of the machine, or
        1000Hz:16us if it has none; False: none. The folder gets the rules that choose the fastest algorithms: rules.csv
        and Open MPI's open-mpi.conf, with noise also rules-noise.csv and open-mpi-noise.conf. A row a case: the values
        of `AlgorithmCase`, then messages, time_ps, and with noise mean_ps, error_ps, low_ps, median_ps and high_ps.
        Raises UsageError.
        """
        on = as_machine(machine)
        plan = AlgorithmPlan(collectives, ranks, sizes, segments, reduction_cost, seeds, seed)
        found = noise_for(on, noise) if noise is None or isinstance(noise, str) else noise or None
        cases = algorithm_cases(on, plan, found)
        return run_study(ALGORITHMS, cases, folder, Running(workers, executor, on_progress))

    def benchmark_error(
        self,
        machine: Machine | str | Path = MACHINE,
        *,
        collectives: Sequence[str] = ("bcast",),
        ranks: Sequence[int] = RANKS,
        sizes: Sequence[int] = (1,),
        repetitions: int = REPETITIONS,
        clock_error_ns: int = CLOCK_ERROR_NS,
        seed: int = 0,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """How wrong usual ways to time a collective are (docs/studies/benchmark-error.md), for each of its algorithms.

        A row a case: the values of `BenchmarkCase`, then true_ps, measured_ps, root_ps and error. Raises UsageError.
        """
        cases = benchmark_cases(as_machine(machine), collectives, ranks, sizes, repetitions, clock_error_ns, seed)
        return run_study(BENCHMARK_ERROR, cases, folder, Running(workers, executor, on_progress))

    def co_scheduling(
        self,
        machine: Machine | str | Path = MACHINE,
        *,
        programs: Sequence[str | Schedule] = GENERATED,
        ranks: Sequence[int] | None = None,
        settings: ProgramSettings | None = None,
        noise: Sequence[str] | None = None,
        together: Sequence[int] | None = None,
        skews_ns: Sequence[int] = (0,),
        seeds: int | Sequence[int] = 8,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """What it takes away of the damage of noise if detours come at the same time on ranks
        (docs/studies/co-scheduling.md).

        A row a case: the values of `CoSchedulingCase`, then finish_ps and messages. `programs` are names of generated
        ones (`idlewave.studies.programs.NAMES`) or schedules; `noise` are "own", the machine's, presets
        such as "jaguar", or regular ones such as "1000Hz:100us". Raises UsageError.
        """
        from .co_scheduling import CO_SCHEDULING, co_scheduling_cases

        on = as_machine(machine)
        cases = co_scheduling_cases(on, programs, ranks, settings, noise, together, skews_ns, seeds)
        return run_study(CO_SCHEDULING, cases, folder, Running(workers, executor, on_progress))

    def ft(
        self,
        machine: Machine | str | Path | None = None,
        *,
        problem: str = "D",
        ranks: Sequence[int] = (1024, 2048, 4096, 8192, 16384, 32768),
        links: Sequence[int] = (1, 2, 3, 4, 5, 6),
        exchanges: Sequence[str] | None = None,
        costs: FtCosts | None = None,
        iterations: int = 1,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """NAS FT by messages and by puts (docs/studies/ft.md), on the preset bluegene-p and `machine`: simulated rows.

        `costs` are what a rank of `machine` computes. Raises UsageError for a problem that so many ranks cannot share.
        """
        from ..ft_pattern import EXCHANGES
        from .ft.study import FT, Plan, ft_cases

        plan = Plan(
            machine=None if machine is None else as_machine(machine),
            costs=costs,
            problem=problem,
            ranks=tuple(ranks),
            links=tuple(links),
            exchanges=EXCHANGES if exchanges is None else tuple(exchanges),
            iterations=iterations,
        )
        return run_cases(FT, ft_cases(plan), folder, Running(workers, executor, on_progress))

    def idle_wave(
        self,
        machine: Machine | str | Path = "odin",
        plan: WavePlan | OwnProgram | None = None,
        *,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """What one delay of one rank does to all others (docs/studies/idle-wave.md).

        `plan` is a `studies.idle_wave.WavePlan` of generated programs, the default, or an `OwnProgram`, such as
        OwnProgram(schedule, "32@10ms+13.5ms"), which is also simulated with the noise of the machine.

        A row a case: the values of `WaveCase`, then those that the page lists. Raises UsageError, CaseError.
        """
        from .idle_wave import IDLE_WAVE, idle_wave_cases

        cases = idle_wave_cases(as_machine(machine), plan)
        return run_study(IDLE_WAVE, cases, folder, Running(workers, executor, on_progress))

    def machines(
        self,
        machines: Sequence[Machine | str | Path] = (),
        plan: MachinesPlan | None = None,
        *,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """A program on several machines, and on each with what-if edits (docs/studies/machines.md).

        `machines`: all presets if there are none. `plan` is a `studies.machines.MachinesPlan`, which has the program
        and the edits, such as ("L=0.5x", "G=2x"). A row a case: the values of `MachineCase`, then ranks, finish_ps and
        messages. Raises UsageError.
        """
        from .machines import MACHINES, MachinesPlan, machine_cases

        chosen = [as_machine(machine) for machine in machines or Machine.presets()]
        cases = machine_cases(chosen, plan or MachinesPlan())
        return run_study(MACHINES, cases, folder, Running(workers, executor, on_progress))

    def network(
        self,
        machine: Machine | str | Path = MACHINE,
        *,
        programs: Sequence[str | Schedule] = GENERATED,
        ranks: Sequence[int] | None = None,
        settings: ProgramSettings | None = None,
        noise: Sequence[str] | None = None,
        parameters: Sequence[str] = ("L+g+G",),
        factors: Sequence[float] = (0.1, 0.3, 1.0, 3.0, 10.0),
        seeds: int | Sequence[int] = 8,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """What a faster or slower network changes, with and without noise (docs/studies/network.md).

        A row a case: the values of `NetworkCase`, then finish_ps and messages. `parameters` are sets that are times
        each of `factors` together. Raises UsageError.
        """
        from .network import NETWORK, network_cases

        cases = network_cases(as_machine(machine), programs, ranks, settings, noise, parameters, factors, seeds)
        return run_study(NETWORK, cases, folder, Running(workers, executor, on_progress))

    def noise(
        self,
        machine: Machine | str | Path = NOISE_MACHINE,
        *,
        programs: Sequence[str] = NOISE_PROGRAMS,
        schedule: Schedule | None = None,
        noise: Sequence[str] | None = None,
        ranks: Sequence[int] = NOISE_RANKS,
        sizes: Sequence[int] = NOISE_SIZES,
        operations: int = 1,
        application_ranks: int = APPLICATION_RANKS,
        seeds: int = NOISE_SEEDS,
        seed: int = 0,
        published: bool | None = None,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """What noise costs `programs` and one's own (`schedule`) at scale (docs/studies/noise.md): a row a case.

        Columns: the values of `NoiseCase`, then overhead, quiet_ps, worst_ps, lost_ps, and of the slowdown its mean,
        low and high, least, q25, median, q75 and most. `published`: the published experiments, too; None: only where
        machine and programs are the default. Raises UsageError.
        """
        is_default = machine == NOISE_MACHINE and tuple(programs) == NOISE_PROGRAMS and schedule is None
        plan = NoisePlan(
            machine=as_machine(machine),
            programs=programs,
            own=schedule,
            noise=noise,
            ranks=ranks,
            sizes=sizes,
            operations=operations,
            application_ranks=application_ranks,
            seeds=seeds,
            seed=seed,
            published=is_default if published is None else published,
        )
        return run_study(NOISE, noise_cases(plan), folder, Running(workers, executor, on_progress))

    def overlap(
        self,
        machine: Machine | str | Path = MACHINE,
        *,
        programs: Sequence[str | Schedule] = (*GENERATED, "slabs_two_sided", "packed_slabs_put"),
        ranks: Sequence[int] | None = None,
        settings: ProgramSettings | None = None,
        shares: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0),
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """How much of their communication programs can hide (docs/studies/overlap.md).

        A row a case: the values of `OverlapCase`, then finish_ps and messages. `shares` are o / g and O / G. Raises
        UsageError.
        """
        from .overlap import OVERLAP, overlap_cases

        cases = overlap_cases(as_machine(machine), programs, ranks, settings, shares)
        return run_study(OVERLAP, cases, folder, Running(workers, executor, on_progress))

    def sensitivity(
        self,
        machine: Machine | str | Path = MACHINE,
        *,
        programs: Sequence[str | Schedule] = GENERATED,
        ranks: Sequence[int] | None = None,
        settings: ProgramSettings | None = None,
        parameters: Sequence[str] = ("L", "G"),
        factors: Sequence[float] = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        growths: Sequence[float] = (0.01, 0.02, 0.05),
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """How sensitive programs are to latency and bandwidth (docs/studies/sensitivity.md).

        A row a case: the values of `SensitivityCase`, then those of `sensitivity_row`. `growths` are shares by which
        the time may grow, for which the tolerated factors are sought. Raises UsageError.
        """
        from .latency_bandwidth import SENSITIVITY, sensitivity_cases

        cases = sensitivity_cases(as_machine(machine), programs, ranks, settings, parameters, factors, growths)
        return run_study(SENSITIVITY, cases, folder, Running(workers, executor, on_progress))

    def thinning(
        self,
        machine: Machine | str | Path = THINNING_MACHINE,
        *,
        recording: str | Path | None = None,
        noise: str | None = None,
        program: str = THINNING_PROGRAM,
        schedule: Schedule | None = None,
        ranks: Sequence[int] = THINNING_RANKS,
        size: int = 8,
        operations: int = 1,
        seeds: int = THINNING_SEEDS,
        seed: int = 0,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """What each source of a machine's noise costs a program (docs/studies/thinning.md): a row a case.

        The sources are those of a `recording` (its folder, or a noise-signature.toml), of a `noise` by name, or of the
        machine's own noise. Columns: the values of `ThinningCase`, then overhead, quiet_ps, lost_ps, lost_sd_ps, and of
        the slowdown its mean, low and high. Raises UsageError.
        """
        from .noise_sources import chosen_sources

        found = as_machine(machine)
        folder_of_machine = None if isinstance(machine, Machine) else machine
        sources = chosen_sources(found, recording, noise, folder_of_machine)
        plan = ThinningPlan(found, sources, program, schedule, ranks, size, operations, seeds, seed)
        running = Running(workers, executor, on_progress)
        return run_study(thinning_study(plan), thinning_cases(plan), folder, running)

    def variation(
        self,
        schedule: Schedule,
        machine: Machine | str | Path,
        variation: Variation | None = None,
        *,
        ranks: int | Sequence[int] | None = None,
        runs: int = 100,
        seed: int = 0,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """What it costs a program that L and G vary over time (docs/studies/variation.md): a row a run.

        `variation` None is that of the machine. Columns: those of `VariationCase`, then constant_ps, finish_ps,
        slowdown; `idlewave.studies.variation.slowdowns` gives means with intervals. Raises UsageError without a
        variation.
        """
        from .variation import VARIATION, variation_cases

        scales = [schedule.ranks] if ranks is None else [ranks] if isinstance(ranks, int) else list(ranks)
        programs = [schedule if scale == schedule.ranks else schedule.extrapolate(scale) for scale in scales]
        cases = variation_cases(programs, as_machine(machine), variation, runs, seed)
        return run_study(VARIATION, cases, folder, Running(workers, executor, on_progress))

    def verify(
        self,
        machine: Machine | str | Path | None = None,
        *,
        scale: str = "small",
        ranks: Sequence[int] | None = None,
        seed: int = 0,
        checks: Sequence[str] | None = None,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """Simulations beside closed forms and published figures (docs/studies/verify.md): a row a simulation.

        `idlewave.studies.verify.statements.statements` says of the table which statements hold. `scale` is small or
        full, `ranks` are those of the POP-like program, `checks` what is compared (None: all). Raises UsageError.
        """
        from .verify.study import CHECKS, VERIFY, verify_cases

        on = None if machine is None else as_machine(machine)
        cases = verify_cases(on, scale, ranks, seed, CHECKS if checks is None else checks)
        return run_study(VERIFY, cases, folder, Running(workers, executor, on_progress))

    def where(
        self,
        machine: Machine | str | Path = MACHINE,
        *,
        programs: Sequence[str | Schedule] = GENERATED,
        ranks: Sequence[int] | None = None,
        settings: ProgramSettings | None = None,
        noise: Sequence[str] | None = None,
        seeds: int | Sequence[int] = 8,
        folder: str | Path | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        on_progress: OnProgress | None = None,
    ) -> pd.DataFrame:
        """In which work of a CPU noise does its damage (docs/studies/where.md).

        A row a case: the values of `WhereCase`, then finish_ps and messages. Raises UsageError.
        """
        from .where import WHERE, where_cases

        cases = where_cases(as_machine(machine), programs, ranks, settings, noise, seeds)
        return run_study(WHERE, cases, folder, Running(workers, executor, on_progress))


Studies.__call__.__doc__ = simulate_study.__doc__
Studies.__doc__ = f"{cleandoc(Studies.__doc__ or '')}\n\n{simulate_study.__doc__}"
study = Studies()
"""The object of `idlewave.study`."""
