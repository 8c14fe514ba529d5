"""Stage 3: what must survive word for word, found by grammar: one room for each family, no model anywhere."""

from inference.protected.clauses import clauses
from inference.protected.reading import OCR, extract, locales, multiset, numbers, scan
from inference.protected.writing import write

__all__ = ["OCR", "clauses", "extract", "locales", "multiset", "numbers", "scan", "write"]
