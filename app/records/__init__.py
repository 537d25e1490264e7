"""Decision records: what a decision rested on, kept for some days, and replayed to the same numbers without asking."""
