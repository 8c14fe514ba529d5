"""Stage 4: what need not be read is left out, each removal with its reason; the final text proves that nothing protected changed."""

from inference.compression.compressing import compress
from inference.compression.relevance import relevance
from inference.compression.selection import Selection, selection_for

__all__ = ["Selection", "compress", "relevance", "selection_for"]
