"""Starts the network probe, or a probe on all ranks of a job."""
