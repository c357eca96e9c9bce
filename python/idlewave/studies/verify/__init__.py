"""The study that compares simulations with closed forms and with what was published."""
