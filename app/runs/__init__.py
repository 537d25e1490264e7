"""Runs: cases in bulk, one unit of work (`run.py`), a journal that loses nothing."""
