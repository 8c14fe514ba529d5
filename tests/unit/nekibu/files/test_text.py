"""Plain text: the encoding is found in the bytes, lines and sentences become pieces."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from nekibu.files.parsers import sentences
from nekibu.files.parsers.base import Unreadable
from nekibu.files.parsers.text import decode, parse_text
from nekibu.files.parsers.unseen import without_unseen

TURKISH = "Işıl Şenırmaklı, İğdebelen – “ölçüm” uzmanı"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (TURKISH.encode(), TURKISH),
        (codecs.BOM_UTF8 + TURKISH.encode(), TURKISH),
        (TURKISH.encode("utf-16"), TURKISH),
        (codecs.BOM_UTF16_BE + TURKISH.encode("utf-16-be"), TURKISH),
        (TURKISH.encode("utf-16-le"), TURKISH),
        (TURKISH.encode("utf-32"), TURKISH),
        (TURKISH.encode("cp1254"), TURKISH),
        ("Işıl Şenırmaklı, İğdebelen".encode("iso8859-9"), "Işıl Şenırmaklı, İğdebelen"),
        (b"plain", "plain"),
    ],
)
def test_the_encoding_is_found_by_content(content: bytes, text: str) -> None:
    assert decode(content)[0] == text


def test_one_damaged_byte_does_not_turn_utf8_into_another_encoding() -> None:
    text, encoding = decode((TURKISH * 3).encode() + b"\xff")
    assert encoding == "utf-8" and text == TURKISH * 3 + "\ufffd"


@pytest.mark.parametrize("content", [b"\x00\x01\x02\x03" * 50, bytes(range(32)) * 9])
def test_bytes_that_are_no_text_are_refused(content: bytes) -> None:
    with pytest.raises(Unreadable, match="unsupported_type"):
        decode(content)


def test_lines_items_rows_and_wrapped_paragraphs_become_pieces(tmp_path: Path) -> None:
    wrapped = "Bu satır altmış karakterden uzundur ve bir sonraki satırda sürüp\ngider. Yeni cümle başlar."
    path = tmp_path / "t.txt"
    path.write_bytes(f"AYŞE YILMAZ\r\n\r\n- SAP MM\r\n2019\tACME\r\n{wrapped}\n\n\n".encode())
    parsed = parse_text(path)
    assert [parsed.text[piece.start : piece.end] for piece in parsed.pieces] == [
        "AYŞE YILMAZ",
        "- SAP MM",
        "2019\tACME",
        "Bu satır altmış karakterden uzundur ve bir sonraki satırda sürüp\ngider.",
        "Yeni cümle başlar.",
    ]
    assert [piece.kind for piece in parsed.pieces] == ["line", "line", "row", "paragraph", "paragraph"]
    assert parsed.quality == "ok"


def test_shapeless_characters_are_taken_out_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "z.txt"
    path.write_text("bir\nsatın\u200balma\u2066", encoding="utf-8")
    parsed = parse_text(path)
    assert parsed.text == "bir\nsatınalma\n" and parsed.quality == "hidden_text"
    assert [(h.reason, h.location) for h in parsed.hidden] == [("zero_width", "line 2"), ("bidi", "line 2")]


def test_emoji_and_persian_keep_their_joiners() -> None:
    for text in ("👩\u200d💻", "می\u200cخواهم"):
        assert without_unseen(text) == (text, ())


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Ali Yılmaz geldi.",
        "Acme A.Ş. Bünyesinde çalıştı.",
        "Kara Ltd. Şti. İçin kurdu.",
        "Çelik, boru vb. Malzeme aldı.",
        "01.02.2019 tarihinde başladı.",
        "12. Kolordu görevi.",
        "Mustafa K. Atatürk okulu.",
        "Sürüm 3.11 kullanıldı.",
        "Node.js ve ASP.NET bilir.",
        "Bkz. Ek 2.",
        "e.g. Python code.",
    ],
)
def test_abbreviations_initials_dates_and_ordinals_end_no_sentence(sentence: str) -> None:
    assert [sentence[a:b] for a, b in sentences.spans(sentence, 0, len(sentence))] == [sentence]


def test_sentences_end_where_they_end() -> None:
    text = "İlk cümle bitti. İkinci mi? Evet! 2019. Sonra 2020’de “bitti.” Son"
    assert [text[a:b] for a, b in sentences.spans(text, 0, len(text))] == [
        "İlk cümle bitti.", "İkinci mi?", "Evet!", "2019.", "Sonra 2020’de “bitti.”", "Son",
    ]  # fmt: skip


def test_a_text_without_sentence_ends_is_cut_at_blanks() -> None:
    text = "kelime " * 400
    spans = list(sentences.spans(text, 0, len(text)))
    assert all(0 < b - a <= sentences.LONGEST and text[a:b] == text[a:b].strip() for a, b in spans)
    assert " ".join(text[a:b] for a, b in spans) == text.strip()
