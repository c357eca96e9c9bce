"""Networks whose parameters are known: as published, and with a rendezvous."""

from __future__ import annotations

from emulated_samples import parameters
from idlewave.measure import Network

PUBLISHED = {
    "odin": Network(((1, parameters(5.3, 2.3, 2.3, 2.0, 0.0025, 0.001)),), 65_536),
    "bigred": Network(((1, parameters(2.9, 2.4, 2.4, 1.7, 0.005, 0.002)),), 65_536),
    "tcp-gige": Network(((1, parameters(45.74, 3.46, 3.46, 0.915, 0.00849)),), None),
    "sci": Network(
        (
            (1, parameters(5.48, 6.10, 6.10, 7.78, 0.0045)),
            (12_289, parameters(5.48, 6.10, 6.10, 13.34, 0.0037)),
        ),
        None,
    ),
    "infiniband": Network(
        (
            (1, parameters(5.96, 4.72, 4.72, 5.14, 0.00073)),
            (12_289, parameters(5.96, 4.72, 4.72, 21.39, 0.00103)),
        ),
        None,
    ),
    "myrinet": Network(
        (
            (1, parameters(10.53, 1.27, 1.27, 9.44, 0.0092)),
            (32_769, parameters(10.53, 1.27, 1.27, 52.01, 0.0042)),
        ),
        None,
    ),
}


def with_threshold(network, S):
    return Network(network.ranges, S)


RENDEZVOUS = {
    "sci": with_threshold(PUBLISHED["sci"], 12_288),
    "infiniband": with_threshold(PUBLISHED["infiniband"], 12_288),
    "myrinet": with_threshold(PUBLISHED["myrinet"], 32_768),
}
