"""What the presets' sources published: half round trips (µs) and bandwidths (10⁶ B/s) by message size (bytes).

Each preset's file has the source. A bandwidth is that of osu_bw: 64 messages in a row, then an answer of 4 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Published:
    """The tables of a source, and up to which sizes the rules can follow them."""

    half_us: dict[int, float]
    bandwidth: dict[int, float] = field(default_factory=dict)
    largest_half: int = 2**22
    exact_half: tuple[int, ...] = (8,)
    exact_bandwidth: int | None = None


def by_powers_of_two(first: int, values: str) -> dict[int, float]:
    """A table from `first` on, a value for each power of two."""
    return {first << i: float(value) for i, value in enumerate(values.split())}


PUBLISHED = {
    "infiniband-hdr": Published(
        by_powers_of_two(
            1,
            "1.61 1.61 1.61 1.61 1.62 1.75 1.78 1.82 2.35 2.45 2.59 2.77 3.55 4.09 5.38 6.97 9.46 14.46 17.62 28.48"
            " 49.98 93.80 179.11",
        ),
        by_powers_of_two(
            1,
            "3.88 7.92 16.14 31.91 63.71 127.70 247.02 493.01 940.30 1765.59 3381.33 6057.63 9050.88 13470.27 14390.78"
            " 20167.41 22544.32 23722.18 24238.68 24454.23 24562.45 24617.71 24453.38",
        ),
        exact_bandwidth=2**22,
    ),
    "slingshot-11": Published(
        by_powers_of_two(
            1,
            "3.00 2.99 2.99 3.07 2.99 3.08 3.01 3.88 4.43 4.62 4.47 4.57 4.79 7.92 8.53 9.48 10.92 13.84 19.19 30.05"
            " 51.73 94.94 181.46",
        ),
        by_powers_of_two(
            1,
            "0.88 1.76 3.53 7.07 14.16 27.76 56.80 113.27 225.42 445.70 883.96 1733.54 3309.75 6188.29 12415.59"
            " 19526.60 22624.33 23346.67 23671.41 23847.29 23940.59 23980.12 24007.69",
        ),
        exact_bandwidth=2**22,
    ),
    "efa-c5n": Published(
        by_powers_of_two(
            2,
            "16.115 16.105 16.105 16.170 16.170 16.185 16.190 16.295 16.515 16.960 17.540 19.180 22.500 59.435 66.475"
            " 75.760 90.660 163.280 319.790 626.630 1175.665 2338.510",
        ),
        by_powers_of_two(
            2,
            "1.235 2.510 5.105 10.215 20.795 41.480 83.120 171.525 331.865 662.100 1276.870 2461.725 4463.425 4661.040"
            " 6310.085 7410.220 8357.235 8880.240 9167.555 9118.815 8598.530 8167.855",
        ),
        largest_half=2**17,
        exact_bandwidth=2**20,
    ),
    "roce-100gbe": Published(
        by_powers_of_two(
            8,
            "1.66 1.67 1.70 1.84 1.88 2.14 2.86 2.34 2.97 3.46 4.47 6.28 8.16 10.27 15.51 29.02 51.64 97.01 187.74"
            " 369.25",
        ),
        exact_half=(8, 2**20, 2**22),
    ),
}
