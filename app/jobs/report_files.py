"""What the process that works out an evaluation leaves: files in the folder it is given, and its exit code.

Apart from that process, so that the service need not load the evaluation, SciPy among it, to read them.
"""

JSON_FILE, PAGE_FILE = "report.json", "report.html"
NOTHING_LABELLED = 3
"""Exit code: no result there is has a gold label."""
