"""A package of somebody else's adds a source of counters by an entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from itertools import takewhile
from pathlib import Path

from places import ROOT

DOCUMENT = ROOT / "docs" / "measuring.md"
SWITCH = """
readings = iter([100, 105, 110, 300])
devices = iter(["A1", "A1", "A1", "B2"])


def ask_the_switch():
    return next(readings)


def serial_number_of(port):
    return next(devices)
"""
"""What the documented plug-in calls: at the fourth reading port1 is another device."""
OTHERS = """


class Broken:
    def __init__(self):
        raise RuntimeError("no licence")


def nothing():
    return 5
"""


def documented() -> tuple[str, str]:
    """The plug-in that the documentation shows: its entry point and its module."""
    text = DOCUMENT.read_text(encoding="utf-8")
    _, found, rest = text.partition('    # pyproject.toml: [project.entry-points."idlewave.counters"] / ')
    assert found
    entry, _, rest = rest.partition("\n")
    lines = takewhile(lambda line: not line or line.startswith("    "), rest.splitlines())
    return entry, textwrap.dedent("\n".join(lines))


PROGRAM = """
import json
from idlewave.measure.counters import CounterReader, find_sources, source_names
sources, notes = find_sources(["switch", "broken", "odd"])
reader = CounterReader(sources, notes)
known = {name: [source, counter.unit, counter.bits] for name, (source, counter) in reader.discover().items()}
grown = [{name: None if value != value else value for name, value in reader.read().items()} for _ in range(4)]
print(json.dumps({"names": source_names(), "known": known, "grown": grown, "notes": notes}))
"""


def install(site: Path) -> None:
    """What pip makes of the package."""
    site.mkdir()
    entry, module = documented()
    (site / "switch_counters.py").write_text(SWITCH + module + OTHERS)
    about = site / "switch_counters-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: switch-counters\nVersion: 1.0\n")
    others = "broken = switch_counters:Broken\nodd = switch_counters:nothing\n"
    (about / "entry_points.txt").write_text(f"[idlewave.counters]\n{entry.replace(chr(34), '')}\n{others}")
    (about / "RECORD").write_text("")


def test_the_documented_source_of_an_installed_package_is_found_and_read_and_a_broken_one_is_said(
    tmp_path: Path,
) -> None:
    install(tmp_path / "site")
    paths = [str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    said = json.loads(done.stdout)
    assert {"switch", "broken", "odd", "net"} <= set(said["names"])
    assert said["known"] == {"switch.port1.stalls": ["switch", "cycles", 32]}
    grown = [reading["switch.port1.stalls"] for reading in said["grown"]]
    assert grown == [None, 5.0, 5.0, None]  # the last device is another one
    assert said["notes"] == [
        "The plug-in broken for counters, switch_counters:Broken, cannot be used: no licence.",
        "The plug-in odd for counters, switch_counters:nothing, cannot be used: it has no name, discover and read.",
    ]
