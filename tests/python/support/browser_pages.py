"""Pages as a headless browser shows them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from matplotlib.image import imread


def check_in_browser(chromium: str, page: Path, width: int, height: int, tmp_path: Path) -> None:
    """The browser reports no error, the page fills the window, and nothing reaches over its right edge."""
    picture = tmp_path / "page.png"
    command = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--hide-scrollbars", "--enable-logging=stderr", f"--window-size={width},{height}",
        f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={picture}",
        page.as_uri(),
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert "CONSOLE" not in result.stderr
    pixels = imread(picture)[:, :, :3]
    assert pixels.shape[:2] == (height, width)
    coloured = pixels.max(axis=2) - pixels.min(axis=2) > 0.2
    for band in np.array_split(pixels, 6):
        assert band.std() > 0.03
    assert coloured.mean() > 0.005
    margin = pixels[:, -8:]
    assert margin.min() > 0.9, "something reaches over the right edge"
