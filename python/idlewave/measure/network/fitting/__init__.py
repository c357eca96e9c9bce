"""From samples to LogGOPS parameters: observations, protocol changes, a model of each range, and predictions."""
