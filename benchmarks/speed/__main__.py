"""`python -m benchmarks.speed [NAMES]`: how fast and how cheap (`make bench`)."""

import sys
from pathlib import Path

from benchmarks.judged import judge, modules

if __name__ == "__main__":
    sys.exit(judge(modules("benchmarks.speed", Path(__file__).parent), sys.argv[1:]))
