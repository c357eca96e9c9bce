"""What an artefact is made from: digests that follow content alone, and one record that says all of it."""

from __future__ import annotations

import os
import pickle
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pytest
from idlewave import InputError, Level, Machine, Parameters, Provenance, Schedule, Segment, simulate
from idlewave.digests import digest_of_file
from idlewave.noise_models import Noise
from idlewave.random_noise import ExponentialLength, MixedNoise, PoissonNoise
from trace_files import write_trace

NETWORK = '[network]\nL = "2500ns"\no = "1500ns"\ng = "1us"\nG = "6ns"\nO = "0ns"\nS = 65535\n'
NOISE = '[noise]\nkind = "periodic"\nperiod = "1ms"\nlength = "20us"\n'
GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"


def digests(machine: Machine) -> dict[str, str]:
    return dict(machine.provenance.digests)


def test_a_machine_is_the_same_whatever_its_name_comments_order_and_units() -> None:
    machine = Machine.from_toml(NETWORK + NOISE)
    other = '# of another day\nname = "x"\n' + NOISE.replace("1ms", "1000us")
    other += NETWORK.replace('o = "1500ns"\n', 'o_r = "1.5us" # to receive\no_s = "1.5us"\n')
    assert digests(Machine.from_toml(other)) == digests(machine)
    assert set(digests(machine)) == {"network", "noise"}


def test_segments_in_which_nothing_changes_change_nothing() -> None:
    parameters = Parameters(L=10, o_s=1, o_r=1, g=2, G=1.0)
    level = Level(parameters, (Segment(100, parameters), Segment(200, replace(parameters, g=3))))
    same = Level(replace(parameters, G=1), (Segment(200, replace(parameters, g=3)),))
    assert digests(Machine("a", level)) == digests(Machine("b", same))
    assert digests(Machine("a", level)) != digests(Machine("a", Level(parameters)))


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        (lambda _: Machine.from_toml(NETWORK.replace("2500ns", "2501ns") + NOISE), "network"),
        (lambda _: Machine.from_toml(NETWORK.replace("65535", "65536") + NOISE), "network"),
        (lambda _: Machine.from_toml(NETWORK + NOISE.replace("20us", "21us")), "noise"),
        (lambda m: m.with_noise_reaches(["calc"]), "noise"),
        (lambda m: m.with_noise(replace(m.noise, phase="same")), "noise"),
        (lambda m: m.with_noise(None), "noise"),
        (lambda m: replace(m, node=m.network, node_ranks=4), "node"),
    ],
)
def test_what_the_simulator_sees_otherwise_has_another_digest_and_the_rest_has_not(changed, part: str) -> None:
    before = Machine.from_toml(NETWORK + NOISE)
    after = changed(before)
    differing = {p for p in ("network", "node", "noise") if digests(before).get(p) != digests(after).get(p)}
    assert differing == {part}


def test_random_noise_is_told_by_its_law() -> None:
    machine = Machine.from_toml(NETWORK)

    def of(noise: idlewave.PoissonNoise | MixedNoise) -> str:
        return digests(machine.with_noise(noise))["noise"]

    random = PoissonNoise(5e8, ExponentialLength(2e7))
    assert of(random) == of(PoissonNoise(500_000_000, ExponentialLength(20_000_000)))
    assert of(random) != of(PoissonNoise(5e8, ExponentialLength(3e7)))
    measured = idlewave.EmpiricalLength(np.array([5, 6, 7]))
    assert of(PoissonNoise(5e8, measured)) != of(PoissonNoise(5e8, idlewave.EmpiricalLength(np.array([5, 6, 8]))))
    ticks = Noise(np.array([0]), np.array([5]), 1000)
    assert len({of(random), of(MixedNoise(ticks, (random,))), of(MixedNoise(ticks, (random, random)))}) == 3


def test_the_network_of_a_machine_has_the_same_digest_as_the_network_within_a_node() -> None:
    machine = Machine.from_toml(NETWORK)
    cluster = replace(Machine.preset("odin"), node=machine.network, node_ranks=16)
    assert digests(cluster)["node"] == digests(machine)["network"]
    assert cluster.provenance.options["node_ranks"] == 16


def test_a_traces_digest_is_what_sha256sum_says_twice(tmp_path: Path) -> None:
    trace = idlewave.Trace.load(write_trace(tmp_path / "trace"))
    command = "sha256sum *.iwtrace | sha256sum"
    said = subprocess.run(command, shell=True, cwd=tmp_path / "trace", capture_output=True, text=True, check=True)
    assert trace.provenance.digests == {"content": f"sha256:{said.stdout.split()[0]}"}
    assert trace.provenance.made_by == "mpiexec -n 2 ./solve"
    assert (trace.provenance.host, trace.provenance.time) == ("node1", "2025-01-02T03:04:05+00:00")


def test_a_trace_is_the_same_wherever_it_lies_and_another_if_a_byte_is(tmp_path: Path) -> None:
    first, same, other = (
        idlewave.Trace.load(write_trace(tmp_path / name, gap_ns=gap)).provenance.digests
        for name, gap in (("a", 5000), ("b", 5000), ("c", 5001))
    )
    assert first == same != other


def test_a_schedule_of_a_trace_is_told_by_trace_algorithms_and_cost(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace")
    made = [
        Schedule.from_trace(folder),
        Schedule.from_trace(write_trace(tmp_path / "again")),
        Schedule.from_trace(folder, algorithms={"allreduce": "ring"}),
        Schedule.from_trace(folder, reduction_cost=0.5),
        Schedule.from_trace(folder).extrapolate(64),
    ]
    words = [schedule.identity() for schedule in made]
    assert words[0] == words[1]
    assert len(set(words)) == 4
    trace = made[4].provenance.find("trace")
    assert trace is not None
    assert trace.name == str(folder)
    assert made[2].provenance.options == {"algorithms": {"allreduce": "ring"}, "reduction_cost": 0.0}


def test_a_pattern_is_told_by_what_it_was_called_with() -> None:
    words = [
        Schedule.pattern("bcast", ranks=8, bytes=9).identity(),
        Schedule.compose([idlewave.Job(8, [idlewave.Operation("bcast", bytes=9)])], name="x").identity(),
        Schedule.pattern("bcast", ranks=8, bytes=10).identity(),
        Schedule.pattern("bcast", ranks=8, bytes=9, root=1).identity(),
        Schedule.pattern("scatter", ranks=8, bytes=9, send_counts=[1, 2, 3]).identity(),
    ]
    assert words[0] == words[1]
    assert len(set(words)) == 4
    assert Schedule.pattern("bcast", ranks=8, bytes=9).provenance.options == {
        "jobs": [{"ranks": 8, "operations": [{"name": "bcast", "bytes": 9}]}]
    }


def test_a_pattern_of_very_many_numbers_is_told_by_its_digest_alone() -> None:
    schedule = Schedule.pattern("alltoall", ranks=100, send_counts=range(10_000))
    assert len(schedule.provenance.to_json()) < 1000
    assert schedule.identity() != Schedule.pattern("alltoall", ranks=100, send_counts=range(1, 10_001)).identity()


def test_goal_text_is_the_same_from_a_file_and_from_memory_with_and_without_its_comment(tmp_path: Path) -> None:
    (tmp_path / "plain.goal").write_text(GOAL)
    plain = Schedule.load(tmp_path / "plain.goal")
    assert plain.identity() == Schedule.from_goal(GOAL).identity() == digest_of_file(tmp_path / "plain.goal")
    plain.save(tmp_path / "told.goal")
    told = Schedule.load(tmp_path / "told.goal")
    assert told.identity() == Schedule.from_goal(plain.to_goal()).identity()
    assert told.identity() == Schedule.from_goal((tmp_path / "told.goal").read_text()).identity()


def test_a_schedules_file_knows_its_trace_until_somebody_edits_it(tmp_path: Path) -> None:
    schedule = Schedule.from_trace(write_trace(tmp_path / "trace"))
    file = tmp_path / "x.goal"
    schedule.save(file)
    trace = Schedule.load(file).provenance.find("trace")
    assert trace is not None
    assert trace.digests == schedule.provenance.sources[0].digests
    for edit in (lambda text: text.replace("calc 5000", "calc 6000", 1), lambda text: text.rpartition("//")[0]):
        file.write_text(edit(file.read_text()))
        edited = Schedule.load(file).provenance
        assert edited.options == {"edited": True}
        assert edited.find("trace") is None
        schedule.save(file)


def test_the_comment_of_goal_text_is_a_line_above_and_the_seal_one_below(tmp_path: Path) -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    schedule.save(tmp_path / "x.goal")
    first, *text, last = (tmp_path / "x.goal").read_text().splitlines(keepends=True)
    assert "".join(text) == schedule.to_goal()
    assert Provenance.from_json(first.removeprefix("// idlewave: ")).find("schedule") is not None
    assert last.startswith("// idlewave: CRC-32C ")


def test_converted_goal_text_says_of_what_file_it_is(tmp_path: Path) -> None:
    Schedule.from_trace(write_trace(tmp_path / "trace")).save(tmp_path / "x.goal")
    idlewave.convert(tmp_path / "x.goal", tmp_path / "y.goal")
    assert Schedule.load(tmp_path / "y.goal").provenance.find("trace") is not None
    idlewave.convert(tmp_path / "x.goal", tmp_path / "z.idg")
    assert Schedule.load(tmp_path / "z.idg").identity() == digest_of_file(tmp_path / "z.idg")


def test_what_changed_after_it_was_read_has_no_digest_and_no_identity(tmp_path: Path) -> None:
    file = tmp_path / "x.goal"
    file.write_text(GOAL)
    schedule = Schedule.load(file)
    file.write_text(GOAL.replace("8b", "9b") + "\n")
    assert "x.goal has changed since it was read" in schedule.provenance.options["unknown"]
    with pytest.raises(InputError, match=r"x\.goal has changed since it was read"):
        schedule.identity()
    trace = idlewave.Trace.load(write_trace(tmp_path / "trace"))
    traced = Schedule.from_trace(trace)
    (tmp_path / "trace" / "rank-0000001.iwtrace").unlink()
    with pytest.raises(InputError, match=r"can no longer be read: .*rank-0000001\.iwtrace"):
        traced.identity()
    with pytest.raises(InputError, match=r"rank-0000001\.iwtrace: cannot be read as a trace: No such file"):
        Schedule.from_trace(trace)


def test_a_digest_that_was_begun_beside_something_else_is_the_same_and_knows_of_changes(tmp_path: Path) -> None:
    file = tmp_path / "a.goal"
    file.write_text(GOAL)
    first, second = Schedule.load(file), Schedule.load(file)
    first.lazy_provenance.begin()
    assert first.provenance == second.provenance
    changed = Schedule.load(file)
    file.write_text(GOAL.replace("8b", "9b", 1))
    changed.lazy_provenance.begin()
    assert "has changed" in str(changed.provenance.options["unknown"])


def test_a_digest_is_found_where_no_further_thread_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.goal"
    file.write_text(GOAL)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    schedule = Schedule.load(file)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    schedule.lazy_provenance.begin()
    assert schedule.provenance == Schedule.load(file).provenance


def test_a_schedule_from_a_pipe_is_simulated_and_said_to_be_unknown(machine: Machine, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(GOAL,))
    writer.start()
    timeline = simulate(Schedule.load(pipe), machine)
    writer.join()
    schedule = timeline.provenance.find("schedule")
    assert schedule.digests == {}
    assert schedule.options == {"unknown": f"{pipe} is no regular file"}


def test_a_timeline_says_what_it_was_simulated_from_and_with(machine: Machine) -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    timeline = simulate(schedule, machine, seed=7)
    said = timeline.provenance
    assert (said.kind, said.version, said.host) == ("timeline", idlewave.__version__, os.uname().nodename)
    assert said.options == {"seed": 7, "dialect": "loggops"}
    assert said.find("schedule") == schedule.provenance
    assert said.find("machine") == machine.provenance
    assert pickle.loads(pickle.dumps(timeline)).provenance == said


def test_how_it_was_simulated_does_not_change_what_it_is(machine: Machine) -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    ways = ({}, {"scheduler": "yawns", "threads": 2}, {"scheduler": "check"}, {"record": True})
    said = [simulate(schedule, machine, **way).provenance for way in ways]
    assert len({replace(one.without_place(), sources=()).to_json() for one in said}) == 1
    assert all(one.sources == said[0].sources for one in said)


def test_noise_that_is_left_out_or_given_is_that_of_the_timeline(machine: Machine) -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    noise = PoissonNoise(5e8, ExponentialLength(2e7))
    noisy = machine.with_noise(noise)
    assert simulate(schedule, noisy, noise=None).provenance.find("machine") == machine.provenance
    assert simulate(schedule, machine, noise=noise).provenance.find("machine") == noisy.provenance


def test_a_study_carries_it_through_pandas_and_parquet(machine: Machine, tmp_path: Path) -> None:
    schedule = Schedule.pattern("bcast", ranks=4)
    table = idlewave.study(schedule, machine.with_noise(Noise(np.array([0]), np.array([5]), 1000)), seeds=range(3))
    said = Provenance.of_table(table[table["noise"]])
    assert said.options == {"ranks": [4], "seeds": "0 to 2"}
    table.to_parquet(tmp_path / "study.parquet")
    assert Provenance.of_table(pd.read_parquet(tmp_path / "study.parquet")) == said


def test_it_is_read_as_it_was_written() -> None:
    said = Provenance.made("study", "x", by="f", options={"ranks": (1, 2), "n": np.int64(3)}, digests={"a": "b"})
    said = replace(said, sources=(Provenance("machine", "a µ machine", {"network": "sha256:0"}),))
    text = said.to_json()
    assert "\n" not in text
    assert text.isascii()
    assert Provenance.from_json(text) == said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "x: expected JSON"),
        ("[" * 100_000, "x: expected at most 64 levels"),
        ("[]", r"x: expected a JSON object, found \[\]"),
        ("{}", "x: kind: expected a text, found nothing"),
        ('{"kind": "study", "host": 3}', "x: host: expected a text, found 3"),
        ('{"kind": "study", "digests": {"a": 3}}', "x: digests.*: expected a text, found 3"),
        ('{"kind": "study", "options": []}', "x: options: expected a JSON object"),
        ('{"kind": "study", "sources": {}}', "x: sources: expected a list"),
        ('{"kind": "study", "sources": [{"kind": 1}]}', r"x: sources\[0\]\.kind: expected a text, found 1"),
        ('{"kind": "a", "sources": [' * 40 + '{"kind": "a"}' + "]}" * 40, "x: expected at most 64 levels"),
        ('{"kind": "' + "x" * 2_000_000 + '"}', "x: expected a provenance of at most 1048576 characters"),
        ('{"kind": ' + "1" * 5000 + "}", "x:1: expected numbers of at most 1000 digits"),
    ],
)
def test_what_is_damaged_is_named_by_its_key(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Provenance.from_json(text, "x")


def test_names_that_are_no_text_and_numbers_that_are_none_survive_as_texts() -> None:
    said = Provenance("schedule", "x\udcff\x1b\n.goal", options={"most": float("inf")})
    again = Provenance.from_json(said.to_json())
    assert again.name == "x\\xff\\x1b\\x0a.goal"
    assert again.options == {"most": "inf"}
    assert Provenance.from_json('{"kind": "schedule", "options": {"a": 1e999}}').options == {"a": "inf"}


def test_a_schedule_that_was_converted_very_often_is_still_read(tmp_path: Path) -> None:
    Schedule.pattern("bcast", ranks=2).save(tmp_path / "0.goal")
    for i in range(40):
        idlewave.convert(tmp_path / f"{i}.goal", tmp_path / f"{i + 1}.goal")
    assert Schedule.load(tmp_path / "40.goal").provenance.options == {}


def test_what_a_later_version_adds_is_passed_over() -> None:
    assert Provenance.from_json('{"kind": "study", "mood": {"good": true}}') == Provenance("study")
