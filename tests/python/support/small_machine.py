"""A machine with a small LogGP network of round numbers, and the study of algorithms on it without noise."""

from __future__ import annotations

import idlewave
import pandas as pd
from idlewave import Machine

US = 10**6
L, O, G = 5 * US, US, 2 * US  # noqa: E741 - the model's names
HOP = L + 2 * O


def machine(per_byte_ns: int = 0) -> Machine:
    text = f'[network]\nL = "5us"\no = "1us"\ng = "2us"\nG = "{per_byte_ns}ns"\nO = "0ns"\nS = "inf"\n'
    return Machine.from_toml(f'name = "small"\n{text}')


def study(on: Machine | str = "infiniband-hdr", **options: object) -> pd.DataFrame:
    return idlewave.study.algorithms(on, **{"noise": False, **options})  # type: ignore[arg-type]
