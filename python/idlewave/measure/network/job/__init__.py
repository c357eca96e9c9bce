"""What concerns all ranks of a job: pairs, latency levels, clocks."""
