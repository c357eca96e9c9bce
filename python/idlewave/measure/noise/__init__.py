"""The noise of a machine's cores: recordings and their analysis."""

from .compare import Comparison, expected_maximum, maximum_table
from .compare import compare as compare_noise
from .detour import NoiseMeasurement, measure_noise, measurement_of, summarise
from .ftq import analyse_ftq
from .fwq import analyse_fwq
from .nodes import rank_cores, rank_nodes
from .noise_recording import Detours, NoiseRecording, detours_of, read_nodes, read_recording
from .signature import Signature, Source
from .signature_fit import fit_signature

__all__ = [
    "Comparison",
    "Detours",
    "NoiseMeasurement",
    "NoiseRecording",
    "Signature",
    "Source",
    "analyse_ftq",
    "analyse_fwq",
    "compare_noise",
    "detours_of",
    "expected_maximum",
    "fit_signature",
    "maximum_table",
    "measure_noise",
    "measurement_of",
    "rank_cores",
    "rank_nodes",
    "read_nodes",
    "read_recording",
    "summarise",
]
