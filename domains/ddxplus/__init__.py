"""DDXPlus (Fansi Tchango et al., NeurIPS 2022 Datasets and Benchmarks): the official files → a domain pack."""

from domains.ddxplus.convert import Conversion, convert
from domains.ddxplus.pack import PACK
from domains.ddxplus.release import CONDITIONS_FILE, EVIDENCES_FILE

__all__ = ["CONDITIONS_FILE", "EVIDENCES_FILE", "PACK", "Conversion", "convert"]
