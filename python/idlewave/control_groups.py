"""The control groups of this process, which limit its CPU time and memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def control_groups(controller: str, root: Path = Path("/")) -> Iterator[list[Path]]:
    """The folders of this process's control group and of the groups above it, nearest first.

    First those of version 2, then those of `controller` ("cpu", "memory") in version 1.
    """
    paths: dict[str, str] = {}
    for line in (text_of(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path.lstrip("/"))
    mounts = [line.split()[1:4] for line in (text_of(root / "proc/self/mounts") or "").splitlines()]
    for version, name in (("cgroup2", ""), ("cgroup", controller)):
        for place, kind, options in mounts:
            if kind == version and name in paths and name in ("", *options.split(",")):
                top = root / place.lstrip("/")
                own = top / paths[name]
                if not own.is_dir():  # a container sees its own group there, whatever its path is outside
                    own = top
                groups = [own, *own.parents]
                yield groups[: groups.index(top) + 1]


def text_of(path: str | Path) -> str | None:
    """The text of a file in /proc or /sys; None if it is empty or cannot be read."""
    try:
        return Path(path).read_text().strip() or None
    except OSError:
        return None
