"""Licences and certificates: the stated class, not a letter that happens to stand nearby."""

from __future__ import annotations

import pytest

from nekibu.language.licences import NO_LICENCE, find_certificates, find_licence_mentions, find_licences


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("B sınıfı ehliyet", ["B"]),
        ("Sürücü belgesi: B, C", ["B", "C"]),
        ("SÜRÜCÜ BELGESİ: B", ["B"]),
        ("driving licence class B", ["B"]),
        ("Class B driver's license", ["B"]),
        ("B-class driving licence", ["B"]),
        ("Driving licence: B (full)", ["B"]),
        ("Ehliyet: B sınıfı, aktif sürücü", ["B"]),
        ("Ehliyet: Var (B)", ["B"]),
        ("Ehliyet | B", ["B"]),
        ("Sürücü Belgesi Sınıfı: A2, B", ["A2", "B"]),
        ("B ve C sınıfı sürücü belgesi", ["B", "C"]),
        ("Driver's License: B, C1E", ["B", "C1E"]),
        ("B ehliyetim var", ["B"]),
        ("Sürücü belgesi: yok", [NO_LICENCE]),
        ("Ehliyetim yok", [NO_LICENCE]),
        ("Driving licence: none", [NO_LICENCE]),
        ("I do not hold a driving licence", [NO_LICENCE]),
        ("B sınıfı ehliyetim yok", [NO_LICENCE]),
        ("Sürücü Belgesi\nB", ["B"]),
        ("Ehliyet: B-C-D", ["B", "C", "D"]),
        ("Ehliyet: var", []),
        ("ehliyet ve e posta", []),
        ("A sınıfı iş güvenliği uzmanı", []),
        ("C blok, B2 İngilizce", []),
    ],
)
def test_the_stated_classes_are_read(text: str, classes: list[str]) -> None:
    found = find_licences(f"Bilgiler\n{text}\nSon")
    assert [licence.licence_class for licence in found] == classes
    for licence in found:
        assert f"Bilgiler\n{text}\nSon"[licence.start : licence.end].strip() in text


def test_a_licence_is_noticed_even_without_its_class() -> None:
    text = "Ehliyet: var, full UK driving licence; lisans belgesi"
    assert [text[start:end] for start, end in find_licence_mentions(text)] == ["Ehliyet", "driving licence"]


def test_certificates_are_found_under_their_usual_name() -> None:
    text = "PMP, SMMM belgesi; ISO 27001:2013, ISO/IEC 27001 ve ISO9001. Scrum Ustası, PMPlus, Serbest Muhasebeci Mali Müşavir"
    found = [(one.name, text[one.start : one.end]) for one in find_certificates(text, more=["Scrum Ustası"])]
    assert found == [
        ("PMP", "PMP"), ("SMMM", "SMMM"), ("ISO 27001", "ISO 27001:2013"), ("ISO 27001", "ISO/IEC 27001"),
        ("ISO 9001", "ISO9001"), ("Scrum Ustası", "Scrum Ustası"), ("SMMM", "Serbest Muhasebeci Mali Müşavir"),
    ]  # fmt: skip


def test_an_absent_certificate_is_not_found() -> None:
    assert find_certificates("Proje yönetimi deneyimi, ISOLASYON 27001, kurucu ortak") == []
