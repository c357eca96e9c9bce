"""A measurement survives its files, and the simulator reads what was fitted."""

from __future__ import annotations

import math
import platform
import tomllib
from dataclasses import replace

import idlewave
import pandas as pd
import pytest
from emulated_samples import emulate
from idlewave import host_environment
from idlewave.errors import InputError
from idlewave.measure import Measurement, NetworkMeasurement, describe, estimate, write_machine
from idlewave.measure.noise import summarise
from idlewave.units import parse_cost, parse_time
from known_networks import RENDEZVOUS
from noise_recordings import detour_summary

NAME = 'the "test" \\ \U0001f4bb machine'
PRESETS = ("bigred", "infiniband-openmpi", "myrinet-gm", "odin", "sci", "tcp-gige")


@pytest.fixture(scope="module")
def measured():
    samples = emulate(RENDEZVOUS["infiniband"], seed=1, repetitions=10)
    fit = estimate(samples, RENDEZVOUS["infiniband"].S)
    probe = {"same_node": True, "library": "Some MPI 1.0, of a test", "eager_limit": 12_288}
    network = NetworkMeasurement(samples, fit, probe, describe())
    detours = pd.DataFrame({"core": [0, 0, 1], "start_ps": [1_234, 50_000_000, 7], "length_ps": [10, 2_000_001, 20]})
    return summarise(detours, [detour_summary(0, 1.0), detour_summary(1, 0.5)], describe()), network


@pytest.fixture
def folder(measured, tmp_path):
    write_machine(tmp_path / "machine", *measured, name=NAME)
    return tmp_path / "machine"


def test_machine_toml_holds_what_was_fitted(folder, measured):
    said = tomllib.loads((folder / "machine.toml").read_text(encoding="utf-8"))
    fit = measured[1].fit
    assert said["name"] == NAME
    assert said["network"]["S"] == fit.S == 12_288
    tables = [said["network"], *said["network"]["segment"]]
    assert [t["from"] for t in tables[1:]] == [r.first for r in fit.ranges[1:]]
    for table, r in zip(tables, fit.ranges, strict=True):
        for name in ("L", "o_s", "o_r", "g"):
            assert parse_time(table[name]) == round(getattr(r.parameters, name))
        for name in ("G", "O"):
            assert parse_cost(table[name]) == pytest.approx(getattr(r.parameters, name), rel=1e-5)
    of_file = {"kind": "trace", "file": "noise.csv", "period": "1.5s", "phase": "random"}
    assert said["noise"] == of_file | {"host": platform.node()}


def test_the_simulator_loads_the_machine_and_its_noise(folder, measured):
    machine = idlewave.Machine.load(folder / "machine.toml")
    assert machine.network.eager_limit == 12_288
    trace, period = measured[0].trace()
    assert machine.noise.starts.tolist() == trace["start_ps"].tolist()
    assert machine.noise.lengths.tolist() == trace["length_ps"].tolist()
    assert machine.noise.period == period


def test_a_measurement_is_read_back_whole(folder, measured):
    noise, network = measured
    loaded = Measurement.load(folder)
    assert loaded.name == NAME
    assert loaded.network.fit.ranges == network.fit.ranges
    assert loaded.network.notes == network.notes
    assert loaded.noise.overhead == noise.overhead
    pd.testing.assert_frame_equal(loaded.network.samples, network.samples)
    pd.testing.assert_frame_equal(loaded.network.fit.predictions, network.fit.predictions)
    pd.testing.assert_frame_equal(loaded.noise.detours, noise.detours)
    pd.testing.assert_frame_equal(loaded.noise.cores, noise.cores)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("measurement.json", None, "cannot be read"),
        ("measurement.json", "{", "expected JSON"),
        ("measurement.json", '{"format": 99}', "format: expected 1, found 99"),
        ("measurement.json", '{"format": 1, "name": "x"}', "noise: expected a JSON object, found nothing"),
        ("measurement.json", '{"format": 1, "noise": {"cores": "all"}, "network": {}}', "noise.cores: expected a list"),
        (
            "measurement.json",
            '{"format": 1, "noise": {"cores": [], "interrupts": [7]}, "network": {}}',
            r"noise.interrupts\[0\]: expected a JSON object",
        ),
        ("noise-samples.parquet", "not parquet", "cannot be read"),
    ],
)
def test_a_broken_file_is_named(folder, file, content, words):
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(InputError, match=words) as raised:
        Measurement.load(folder)
    assert file in str(raised.value)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_load(name):
    assert idlewave.Machine.preset(name).name == name


def test_a_preset_s_segment_changes_only_what_it_names():
    network = idlewave.Machine.preset("infiniband-openmpi").network
    assert network.at(12_288).g == 5_140_000
    assert network.at(12_289).g == 21_390_000
    assert network.at(12_289).L == network.at(1).L == 5_960_000


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        ("model name : AMD EPYC\nflags\t: fpu hypervisor sse\n", True),
        ("model name : AMD EPYC\nflags\t: fpu sse\n", False),
        ("processor : 0\nFeatures\t: fp asimd\n", None),
        ("cpu : POWER9\n", None),
    ],
)
def test_a_hypervisor_is_denied_only_where_the_processor_would_tell(monkeypatch, cpuinfo, expected):
    monkeypatch.setattr(host_environment, "text_of", lambda path: cpuinfo if str(path) == "/proc/cpuinfo" else None)
    assert describe()["hypervisor"] is expected


SECOND = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
FIRST = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\ncgroup /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
OF_TWO = "0::/slurm/job_7/step_0\n"
OF_ONE = "4:cpu,cpuacct:/slurm/job_7\n0::/\n"
OWN = "slurm/job_7/step_0/cpu.max"


def _first(group, quota):
    return {f"cpu,cpuacct/{group}/cpu.cfs_{name}_us": us for name, us in (("quota", quota), ("period", "100000"))}


@pytest.mark.parametrize(
    ("mounts", "group", "files", "expected"),
    [
        (SECOND, OF_TWO, {OWN: "max 100000", "slurm/job_7/cpu.max": "5000 10000"}, "5000 10000"),
        (SECOND, OF_TWO, {OWN: "150000 100000", "slurm/cpu.max": "400000 100000"}, "150000 100000"),
        (SECOND, OF_TWO, {OWN: "max 100000"}, "max 100000"),
        (SECOND, OF_TWO, {"cpu.max": "200000 100000"}, "200000 100000"),
        (SECOND, OF_TWO, {"slurm/job_8/cpu.max": "1000 100000"}, None),
        (FIRST, OF_ONE, _first("slurm/job_7", "-1"), "max 100000"),
        (FIRST, OF_ONE, _first("slurm", "50000"), "50000 100000"),
        ("", "", {}, None),
    ],
)
def test_the_cpu_limit_is_that_of_the_process_s_own_control_groups(tmp_path, mounts, group, files, expected):
    proc, groups = tmp_path / "proc" / "self", tmp_path / "sys" / "fs" / "cgroup"
    proc.mkdir(parents=True)
    (proc / "mounts").write_text(mounts)
    (proc / "cgroup").write_text(group)
    (groups / "slurm" / "job_7" / "step_0").mkdir(parents=True)
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text + "\n")
    (groups / "cpu,cpuacct" / "slurm" / "job_7").mkdir(parents=True, exist_ok=True)
    assert host_environment._cpu_limit(tmp_path) == expected


def test_the_time_that_other_tasks_had_the_cores_is_in_the_machine(measured, tmp_path):
    noise, network = measured
    detours_s = noise.cores["overhead_ps"] / 1e12
    for waited, expected in ((detours_s / 4, 0.25), (detours_s * 1.5, 1.0), (detours_s * [1, math.nan], None)):
        known = replace(noise, cores=noise.cores.assign(core_wait_s=waited))
        toml = write_machine(tmp_path / "machine", known, network, name=NAME)
        for machine in (idlewave.Machine.load(toml), Measurement.load(toml.parent).machine()):
            assert machine.noise_origin is not None
            assert machine.noise_origin.host == platform.node()
            assert machine.noise_origin.core_wait_share == (None if expected is None else pytest.approx(expected))
