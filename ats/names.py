"""What to call a person of whom only the file is known yet."""

from __future__ import annotations

import re
from pathlib import PurePath

from nekibu.language.turkish import fold

# Words of file names that are nobody's name, as `fold` writes them.
NOT_A_NAME = {
    "aday", "application", "basvuru", "basvurusu", "curriculum", "cv", "cvsi", "final", "guncel", "letter", "new", "ozgecmis", "ozgecmisi",
    "resume", "son", "updated", "vitae", "yeni",
}  # fmt: skip
_CAMEL = re.compile(r"(?<=[^\W\d_A-ZÇĞİÖŞÜ])(?=[A-ZÇĞİÖŞÜ])")
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['’.\u0300-\u036f])*")


def name_from_file(file_name: str) -> str:
    """`CV_Özge_Ağaçbükü.pdf` → `Özge Ağaçbükü`. Where no name is left, the file's name without its ending stays whole."""
    stem = PurePath(file_name).stem.strip()
    words = _WORD.findall(_CAMEL.sub(" ", stem))
    kept = [word for word in words if fold(word) not in NOT_A_NAME]
    return " ".join(kept) if len(kept) > 1 else stem or file_name
