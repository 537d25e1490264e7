"""`python -m benchmarks.chaos [NAMES]`: what happens when things die (`make chaos`)."""

import sys
from pathlib import Path

from benchmarks.judged import judge, modules

if __name__ == "__main__":
    sys.exit(judge(modules("benchmarks.chaos", Path(__file__).parent), sys.argv[1:]))
