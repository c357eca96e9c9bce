"""What the functions on recordings over time and their commands do by default."""

SECONDS = 10.0
"""How long an allocation is measured."""
PROBABILITY = 0.9
"""The probability with which each need of a job has to hold over the next hour."""
LAGS = 12
"""The largest lag of correlations, in phases: two rounds."""
TOLERANCE = 0.1
"""A prediction is optimistic if the value was worse than predicted by more than this share."""
