"""A time that is too long, or written too long, is refused with its key."""

from __future__ import annotations

import pytest
from idlewave import InputError, Machine
from idlewave.units import parse_cost, parse_time
from input_samples import NETWORK


@pytest.mark.parametrize("text", ["1e999999999s", "1e400s", "1e99s", "9223372036854775808ps", "-107e6s"])
@pytest.mark.parametrize("parse", [parse_time, parse_cost])
def test_a_time_beyond_106_days_is_refused_before_its_digits_are_written_out(parse, text: str) -> None:
    with pytest.raises(ValueError, match=rf"expected a time of at most 106 days, found '{text}'"):
        parse(text)


@pytest.mark.parametrize("parse", [parse_time, parse_cost])
def test_a_time_is_of_at_most_100_characters_and_its_exponent_no_less_than_minus_400(parse) -> None:
    with pytest.raises(ValueError, match="expected an exponent of at least -400, found '1e-999999999s'"):
        parse("1e-999999999s")
    with pytest.raises(ValueError, match="expected a time of at most 100 characters, found '0000"):
        parse("0" * 100_000 + "s")
    assert parse("1e-400s") == 0


def test_the_longest_time_fits_into_64_bits() -> None:
    assert parse_time("9223372036854775807ps") == 2**63 - 1
    assert parse_time("9.2e6s") == 9_200_000_000_000_000_000


@pytest.mark.parametrize(("key", "text"), [("L", "1e999999999s"), ("G", "1e400s"), ("O", "1e400s"), ("g", "107e5s")])
def test_a_machine_s_parameter_that_is_too_large_is_refused_with_its_key(key: str, text: str) -> None:
    lines = [f'{key} = "{text}"' if line.startswith(f"{key} =") else line for line in NETWORK.splitlines()]
    with pytest.raises(InputError, match=rf"m.toml: network.{key}: expected a time .*found '{text}'"):
        Machine.from_toml("\n".join(lines), name="m.toml")
