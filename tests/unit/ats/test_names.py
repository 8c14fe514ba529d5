"""A file's name says a person's name where it can, and nothing that is not one."""

from __future__ import annotations

import pytest

from ats.names import name_from_file


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("CV_Özge_Ağaçbükü.pdf", "Özge Ağaçbükü"),
        ("Ümit İğdebelen özgeçmiş.docx", "Ümit İğdebelen"),
        ("CV - Yiğit Işıkdereli.pdf", "Yiğit Işıkdereli"),
        ("PiersAshmarrow.pdf", "Piers Ashmarrow"),
        ("başvuru Irmak Uğurtepeci (2).pdf", "Irmak Uğurtepeci"),
        ("Ottilie Thornquist resume 2026.pdf", "Ottilie Thornquist"),
        ("Corwin Wyndlesham CV.txt", "Corwin Wyndlesham"),
        ("Cag\u0306rı Öz.pdf", "Cag\u0306rı Öz"),
        ("O'Brien, Seán.pdf", "O'Brien Seán"),
        ("özgeçmiş_Çağrı.docx", "özgeçmiş_Çağrı"),
        ("CV; “son” 2026.pdf", "CV; “son” 2026"),
        ("履歴書 (1).pdf", "履歴書 (1)"),
        ("cv.pdf", "cv"),
        (".pdf", ".pdf"),
    ],
)
def test_a_name_is_taken_only_where_there_is_one(file: str, name: str) -> None:
    assert name_from_file(file) == name
