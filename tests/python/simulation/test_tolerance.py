"""How much more latency a program bears, against what simulations give everywhere else."""

from __future__ import annotations

import json
import math
import random
import signal
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise, takewhile

import idlewave
import numpy as np
import pytest
from click.testing import CliRunner
from idlewave import (
    InputError,
    Job,
    LatencyTolerance,
    Level,
    Machine,
    Noise,
    Operation,
    Parameters,
    PatternOptions,
    Schedule,
    Segment,
    UsageError,
)
from idlewave.cli import cli
from idlewave.cli.explain_tolerance import tolerance_in_words
from idlewave.errors import TimeOverflow
from idlewave.tolerance import with_latency

COARSE = Machine(name="coarse", network=Level(Parameters(L=50, o_s=7, o_r=9, g=12, G=1.0, O_s=0.5, O_r=0.5)))
HOP = 50 + 7 + 9
"""ps that a message of one byte takes from send to receive on COARSE."""


def ping_pongs(*chains: tuple[int, int]) -> Schedule:
    """Pairs of ranks: each computes for so many ns, then sends a byte to and fro so many times."""
    lines = [f"num_ranks {2 * len(chains)}"]
    for pair, (calc, messages) in enumerate(chains):
        for side in (0, 1):
            lines += [f"rank {2 * pair + side} {{", f"l0: calc {calc if side == 0 else 0}"]
            for i in range(messages):
                verb = "send 1b to" if i % 2 == side else "recv 1b from"
                lines += [f"l{i + 1}: {verb} {2 * pair + 1 - side} tag {i}", f"l{i + 1} requires l{i}"]
            lines.append("}")
    return Schedule.from_goal("\n".join(lines) + "\n")


def ping_pongs_time(chains: tuple[tuple[int, int], ...], added: int) -> int:
    return max(1000 * calc + messages * (HOP + added) for calc, messages in chains)


CHAINS = ((100, 1), (98, 7), (90, 30), (60, 100), (2, 200))


def time_with(schedule: Schedule, machine: Machine, added: int) -> int:
    return idlewave.simulate(schedule, with_latency(machine, added)).max_finish


def off(found: LatencyTolerance, added: int, time: int) -> tuple[float, int]:
    """How far a time lies below the curve, and the error that is stated there."""
    piece = max(1, bisect_left(found.breakpoints, added))
    (a, b), (before, after) = (x[piece - 1 : piece + 1] for x in (found.breakpoints, found.times))
    return before + (after - before) * (added - a) / (b - a) - time, found.errors[piece - 1]


def test_what_independent_chains_of_messages_bear_is_what_a_calculation_says() -> None:
    found = idlewave.latency_tolerance(ping_pongs(*CHAINS), COARSE)
    base = ping_pongs_time(CHAINS, 0)
    assert found.time == base
    for growth, bracket in found.tolerance.items():
        limit = base + int(base * growth)
        bears = min((limit - 1000 * calc - messages * HOP) // messages for calc, messages in CHAINS)
        assert bracket.limit == limit
        assert (bracket.low, bracket.high, bracket.estimate) == (bears, bears + 1, bears)
        assert bracket.exact
    assert found.simulations < 40


def test_the_curve_of_independent_chains_is_the_highest_of_their_lines() -> None:
    found = idlewave.latency_tolerance(ping_pongs(*CHAINS), COARSE, growths=(1.0,), precision=0)
    assert (found.error_kind, set(found.errors), found.convex) == ("bound", {0}, True)
    slopes = found.to_pandas()["slope"]
    assert {messages for _, messages in CHAINS} <= set(slopes)
    for added in range(0, found.breakpoints[-1], 13):
        assert off(found, added, ping_pongs_time(CHAINS, added)) == (0, 0)


def test_a_bound_holds_everywhere_and_takes_fewer_simulations_than_the_curve_has_pieces() -> None:
    chains = tuple((1000 - k * (k + 1) // 2, k) for k in range(1, 44))
    found = idlewave.latency_tolerance(ping_pongs(*chains), COARSE, growths=(0.3,))
    assert found.error_kind == "bound"
    assert 0 < max(found.errors) <= 0.003 * found.time
    assert found.simulations < 43
    for added in range(0, found.breakpoints[-1], 101):
        below, error = off(found, added, ping_pongs_time(chains, added))
        assert 0 <= below <= error


def random_program(seed: int) -> tuple[Schedule, Machine]:
    dice = random.Random(seed)
    ranks = dice.randint(2, 4)
    ops: list[list[str]] = [[] for _ in range(ranks)]
    for tag in range(dice.randint(2, 10)):
        source, target = dice.sample(range(ranks), 2)
        size = dice.choice((1, 30, 200))
        ops[source].append(f"send {size}b to {target} tag {tag}")
        ops[target].append(f"recv {size}b from {source} tag {tag}")
    lines = [f"num_ranks {ranks}"]
    for rank, mine in enumerate(ops):
        lines += [f"rank {rank} {{", *(f"l{i}: {op}" for i, op in enumerate(mine))]
        lines += [f"l{i} requires l{i - 1}" for i in range(1, len(mine)) if dice.random() < 0.5]
        lines.append("}")
    noise = None
    if dice.random() < 0.3:
        noise = Noise(np.array([30, 180]), np.array([20, 45]), period=300)
    segments = (Segment(100, Parameters(L=20, o_s=9, o_r=3, g=4, G=0.25)),) if dice.random() < 0.5 else ()
    network = replace(COARSE.network, segments=segments)
    return Schedule.from_goal("\n".join(lines)), replace(COARSE, network=network, noise=noise)


def check_brackets(found: LatencyTolerance, truth: Callable[[int], int], *, convex: bool) -> None:
    for bracket in found.tolerance.values():
        below = [added for added in found.simulated if bracket.high is None or added < bracket.high]
        assert bracket.low == max(below)
        assert all(truth(added) <= bracket.limit for added in below)
        assert bracket.high is None or truth(bracket.high) > bracket.limit
        if bracket.exact and convex:
            assert all(truth(added) <= bracket.limit for added in range(bracket.low + 1))


def check_curve(found: LatencyTolerance, truth: Callable[[int], int], *, convex: bool) -> None:
    assert found.times == [truth(added) for added in found.breakpoints]
    assert len(found.errors) == len(found.breakpoints) - 1
    if found.error_kind == "bound" and convex:
        for added in range(found.breakpoints[-1]):
            below_line, error = off(found, added, truth(added))
            assert 0 <= below_line <= error


@pytest.mark.parametrize("seed", range(24))
def test_what_is_said_of_a_random_program_is_true_at_every_picosecond(seed: int) -> None:
    schedule, machine = random_program(seed)
    truth = cache(lambda added: time_with(schedule, machine, added))
    for most in (4, 20, 100):
        found = idlewave.latency_tolerance(schedule, machine, growths=(0.05, 0.2, 0.6), most_simulations=most)
        assert found.simulations <= most
        assert found.time == truth(0)
        assert found.simulated == {added: truth(added) for added in found.simulated}
        steps = [truth(added + 1) - truth(added) for added in range(found.breakpoints[-1])]
        convex = all(before <= after for before, after in pairwise(steps))
        assert found.convex or not convex
        check_brackets(found, truth, convex=convex)
        check_curve(found, truth, convex=convex)


@pytest.mark.parametrize("seed", range(24))
def test_the_time_exceeds_its_limit_right_after_the_tolerance(seed: int) -> None:
    schedule, machine = random_program(seed)
    found = idlewave.latency_tolerance(schedule, machine, growths=(0.05, 0.3, 1.0), precision=0, most_simulations=1000)
    base = idlewave.simulate(schedule, machine).max_finish
    for growth, bracket in found.tolerance.items():
        limit = base + int(base * growth)
        assert bracket.high == bracket.low + 1
        assert time_with(schedule, machine, bracket.low) <= limit < time_with(schedule, machine, bracket.high)


@pytest.mark.parametrize("name", ["dissemination", "bcast", "allgather", "scan"])
def test_the_curve_of_a_program_of_fixed_order_is_exact_at_every_picosecond(name: str) -> None:
    compute = Operation("compute", options=PatternOptions(compute_ns=1))
    operations = [Operation(name, bytes=40), compute]
    schedule = Schedule.compose([Job(ranks=6, operations=operations, repetitions=2)])
    found = idlewave.latency_tolerance(schedule, COARSE, growths=(0.5,), precision=0)
    assert (found.error_kind, set(found.errors), found.convex) == ("bound", {0}, True)
    for added in range(0, found.breakpoints[-1] + 1, 7):
        assert off(found, added, time_with(schedule, COARSE, added)) == (0, 0)


def traced_halo(dice: random.Random, iterations: int = 30) -> Schedule:
    """As the traced 2 x 2 halo exchange of the demo: computation of uneven length, messages that do not block."""
    lines = ["num_ranks 4"]
    for rank in range(4):
        lines += [f"rank {rank} {{", "c0: calc 1"]
        for i in range(iterations):
            waits = []
            for way, peer in enumerate((rank ^ 1, rank ^ 2)):
                lines += [
                    f"r{i}x{way}: recv 4096b from {peer} tag {way}",
                    f"s{i}x{way}: send 4096b to {peer} tag {way}",
                ]
                lines += [f"r{i}x{way} requires c{i}", f"s{i}x{way} requires c{i}"]
                waits += [f"r{i}x{way}", f"s{i}x{way}"]
            lines.append(f"c{i + 1}: calc {dice.randint(50_000, 60_000)}")
            lines += [f"c{i + 1} requires {op}" for op in waits]
        lines.append("}")
    return Schedule.from_goal("\n".join(lines) + "\n")


def noisy_machine(dice: random.Random) -> Machine:
    """A machine as it may be measured: many short detours, and some long ones."""
    starts, lengths, at = [], [], 0
    while at < 10**10:
        starts.append(at)
        lengths.append(dice.choice((150_000, 700_000, 3_000_000)) if dice.random() < 0.95 else 40_000_000)
        at += lengths[-1] + dice.randint(10**6, 2 * 10**8)
    noise = Noise(np.array(starts), np.array(lengths), period=at)
    return Machine("noisy", Level(Parameters(L=243_000, o_s=300_000, o_r=200_000, g=100_000, G=90.0)), noise=noise)


@pytest.mark.parametrize("seed", range(3))
def test_a_traced_program_under_measured_noise_gets_an_answer_that_holds(seed: int) -> None:
    dice = random.Random(seed)
    schedule, machine = traced_halo(dice), noisy_machine(dice)
    found = idlewave.latency_tolerance(schedule, machine)
    assert found.simulations <= 100
    assert (found.error_kind, len(found.held_out)) == ("estimate", 19)
    for bracket in found.tolerance.values():
        assert bracket.high is not None
        assert bracket.estimate is not None
        assert bracket.low <= bracket.estimate < bracket.high <= 1.01 * bracket.low + 1
        assert time_with(schedule, machine, bracket.low) <= bracket.limit
        assert time_with(schedule, machine, bracket.high) > bracket.limit
    inside = 0
    for added in (looks := [dice.randint(0, found.breakpoints[-1]) for _ in range(60)]):
        below, error = off(found, added, time_with(schedule, machine, added))
        inside += abs(below) <= error
    assert inside >= 0.8 * len(looks)


def test_a_traced_program_without_noise_takes_tens_of_simulations() -> None:
    found = idlewave.latency_tolerance(traced_halo(random.Random(0)), noisy_machine(random.Random(0)), noise=None)
    assert found.simulations < 100
    assert max(found.errors) < 1e-3 * found.time


def test_a_program_without_messages_bears_any_latency() -> None:
    schedule = Schedule.from_goal("num_ranks 1\nrank 0 {\na: calc 5\n}\n")
    noise = Noise(np.array([3000]), np.array([900]), 9000)
    for machine in (COARSE, replace(COARSE, noise=noise)):
        found = idlewave.latency_tolerance(schedule, machine)
        assert all(bracket.unlimited and bracket.high is None for bracket in found.tolerance.values())
        assert (found.error_kind, found.errors) == ("bound", [0])
        assert found.brackets()["high_ps"].isna().all()


def test_arguments_without_a_meaning_are_refused() -> None:
    schedule = ping_pongs((1, 1))
    with pytest.raises(UsageError, match="no network inside nodes"):
        idlewave.latency_tolerance(schedule, COARSE, level="node")
    with pytest.raises(UsageError, match="at least one simulation, found most_simulations=0"):
        idlewave.latency_tolerance(schedule, COARSE, most_simulations=0)
    for growth in (0.0, math.nan, math.inf):
        with pytest.raises(UsageError, match="expected growths above 0"):
            idlewave.latency_tolerance(schedule, COARSE, growths=(growth,))
    for precision in (-0.1, 1.0, math.nan):
        with pytest.raises(UsageError, match="expected a precision of at least 0 and below 1"):
            idlewave.latency_tolerance(schedule, COARSE, precision=precision)


def test_the_latency_inside_nodes_is_a_question_of_its_own() -> None:
    machine = replace(COARSE, node=Level(Parameters(L=10, o_s=7, o_r=9, g=12)), node_ranks=2)
    chains = ((10, 3),)  # both ranks on one node
    inside = idlewave.latency_tolerance(ping_pongs(*chains), machine, level="node", growths=(0.5,)).tolerance[0.5]
    base = 10_000 + 3 * (10 + 7 + 9)
    assert (inside.low, inside.exact) == ((base // 2) // 3, True)
    assert idlewave.latency_tolerance(ping_pongs(*chains), machine, growths=(0.5,)).tolerance[0.5].unlimited


HOURS = 4 * 10**13
"""ns of computation: 11 hours."""


def test_a_program_that_computes_for_hours_bears_what_its_messages_leave() -> None:
    bracket = idlewave.latency_tolerance(ping_pongs((HOURS, 2)), COARSE, growths=(0.01,)).tolerance[0.01]
    assert (bracket.low, bracket.exact) == ((bracket.limit - 1000 * HOURS - 2 * HOP) // 2, True)


@pytest.mark.parametrize("growth", [400.0, 999.0])
def test_a_limit_that_no_time_can_reach_is_borne_as_far_as_times_go(growth: float) -> None:
    schedule = ping_pongs((HOURS, 2))
    found = idlewave.latency_tolerance(schedule, COARSE, growths=(0.01, growth))
    assert found.tolerance[0.01].exact
    last = found.tolerance[growth]
    assert (last.high, last.unlimited) == (None, False)
    assert last.low > 4.4e18
    with pytest.raises(TimeOverflow):
        time_with(schedule, COARSE, round(1.02 * last.low))


def test_a_time_that_leaves_its_range_with_the_machines_own_latency_is_an_error() -> None:
    text = "num_ranks 1\nrank 0 {\na: calc 9000000000000000\nb: calc 9000000000000000\nb requires a\n}\n"
    with pytest.raises(InputError, match="106 days"):
        idlewave.latency_tolerance(Schedule.from_goal(text), COARSE)


def test_tables_have_a_row_for_each_piece_and_each_growth() -> None:
    found = idlewave.latency_tolerance(ping_pongs(*CHAINS), COARSE, growths=(0.05, 0.01))
    pieces, brackets = found.to_pandas(), found.brackets()
    assert (pieces["to_ps"].to_list(), pieces["error_ps"].to_list()) == (found.breakpoints[1:], found.errors)
    assert brackets["growth"].to_list() == [0.01, 0.05]
    assert brackets["low_ps"].to_list() == [bracket.low for bracket in found.tolerance.values()]


def test_progress_counts_simulations_up_to_the_budget() -> None:
    calls: list[tuple[int, int]] = []
    found = idlewave.latency_tolerance(
        ping_pongs(*CHAINS), COARSE, most_simulations=50, progress=lambda *call: calls.append(call)
    )
    made = [call[0] for call in calls]
    assert {call[1] for call in calls} == {50}
    assert made == sorted(made)
    assert found.simulations - 1 <= made[-1] <= found.simulations


EXPLAINED = ["explain", "allreduce", "--algorithm", "ring", "--ranks", "8", "--bytes", "1000", "--machine", "odin"]


def test_explain_says_what_latency_is_borne_and_how_well_that_is_known() -> None:
    result = CliRunner().invoke(cli, EXPLAINED)
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "Latency tolerance: L + " in text
    assert "before it takes 1 % longer" in text
    assert "gives the time exactly, as long as nothing happens in another order" in text
    found = json.loads(CliRunner().invoke(cli, [*EXPLAINED, "--json"]).output)["latency_tolerance"]
    assert [bracket["growth"] for bracket in found["brackets"]] == [0.01, 0.02, 0.05]
    assert all(bracket["exact"] and bracket["high_ps"] == bracket["low_ps"] + 1 for bracket in found["brackets"])
    assert set(found["curve"]) == {"added_ps", "time_ps", "error_ps", "error_kind", "held_out_ps"}
    few = json.loads(CliRunner().invoke(cli, [*EXPLAINED, "--json", "--most-simulations", "2"]).output)
    assert few["latency_tolerance"]["simulations"] == 2


def test_under_noise_explain_says_between_which_latencies_and_that_errors_are_estimated() -> None:
    found = idlewave.latency_tolerance(traced_halo(random.Random(0)), noisy_machine(random.Random(0)))
    lines = tolerance_in_words(found)
    assert "before it takes 1 % longer" in lines[1]
    assert any(" (between " in line for line in lines[1:4])
    assert "an estimate, which holds at 19 of 20 latencies" in lines[-1]


def test_of_too_few_simulations_under_noise_no_error_is_claimed() -> None:
    found = idlewave.latency_tolerance(
        traced_halo(random.Random(0)), noisy_machine(random.Random(0)), most_simulations=2
    )
    assert (found.error_kind, found.held_out) == ("estimate", [])
    assert tolerance_in_words(found)[-1].endswith("they are too few to say with which error.")


def test_an_interrupt_finds_everything_printed_but_the_tolerance_it_ends() -> None:
    program = "import sys, time; from idlewave.cli import explain_command, main; "
    program += "explain_command.latency_tolerance = lambda *_, **__: time.sleep(60); "
    program += f"sys.argv = {['idlewave', *EXPLAINED]}; main()"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as explain:
        assert explain.stdout is not None
        printed = list(takewhile(lambda line: "unexpected on a rank" not in line, explain.stdout))
        explain.send_signal(signal.SIGTERM)
        rest, errors = explain.communicate(timeout=60)
    assert any("Critical path" in line for line in printed)
    assert (explain.returncode, rest, errors.strip()) == (143, "", "interrupted by SIGTERM")


def test_the_latency_of_one_sided_operations_is_a_question_of_its_own() -> None:
    machine = replace(COARSE, one_sided=Level(Parameters(L=10, o_s=7, o_r=0, g=12)))
    puts = "num_ranks 2\nrank 0 {\np: put 1b to 1\nq: put 1b to 1\nq requires p\n}\nrank 1 {\nc: calc 0\n}\n"
    schedule = Schedule.from_goal(puts)
    own = idlewave.latency_tolerance(schedule, machine, level="one_sided", growths=(0.5,)).tolerance[0.5]
    base = 2 * (7 + 10 + 10)
    assert (own.low, own.exact) == ((base // 2) // 4, True)
    found = idlewave.latency_tolerance(schedule, machine, growths=(0.5,))
    assert found.tolerance[0.5].unlimited
    assert tolerance_in_words(found, one_sided=True)[0] == "Latency tolerance, where L of one-sided operations stays:"
    with pytest.raises(UsageError, match="no parameters of one-sided operations"):
        idlewave.latency_tolerance(schedule, COARSE, level="one_sided")
    with pytest.raises(UsageError, match="there are the levels network, node and one_sided, not 'buffer'"):
        idlewave.latency_tolerance(schedule, COARSE, level="buffer")  # type: ignore[arg-type]
