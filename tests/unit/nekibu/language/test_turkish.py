"""Letters, order and keys: what a person types finds what another person wrote."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.language.search import broken_share, find, looks_broken, prefix_matches
from nekibu.language.turkish import exact_key, fold, key, lower, sort_key, strip_suffix, upper, words

TURKISH_TEXT = st.text(
    alphabet="abcçdefgğhıijklmnoöprsştuüvyzABCÇDEFGĞHIİJKLMNOÖPRSŞTUÜVYZâîû '’-\n1.2,", max_size=60
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("İSTANBUL", "istanbul"),
        ("IŞIK", "ışık"),
        ("ÇAĞRI", "çağrı"),
        ("I\u0307STANBUL", "istanbul"),
        ("İĞDIR", "iğdır"),
    ],
)
def test_lower_case_follows_turkish_rules(text: str, expected: str) -> None:
    assert lower(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("iğde ışık", "İĞDE IŞIK"), ("istanbul", "İSTANBUL"), ("diyarbakır", "DİYARBAKIR")]
)
def test_upper_case_follows_turkish_rules(text: str, expected: str) -> None:
    assert upper(text) == expected


@given(st.text(alphabet="abcçdefgğhıijklmnoöprsştuüvyz ", max_size=40))
def test_turkish_case_goes_up_and_comes_back(text: str) -> None:
    assert lower(upper(text)) == text


@pytest.mark.parametrize(
    "spellings",
    [
        ("İstanbul", "istanbul", "İSTANBUL", "ISTANBUL", "I\u0307stanbul"),
        ("IŞIK", "ışık", "Işık", "isik"),
        ("ISPARTA", "ısparta", "isparta", "Isparta"),
        ("Diyarbakır", "DİYARBAKIR", "diyarbakir", "DIYARBAKIR"),
        ("Çağrı", unicodedata.normalize("NFD", "Çağrı"), "ÇAĞRI", "cagri"),
    ],
)
def test_every_spelling_finds_every_other(spellings: tuple[str, ...]) -> None:
    for stored in spellings:
        for typed in spellings:
            assert [(hit.start, hit.end) for hit in find(f"{stored} şubesi", typed)] == [(0, len(stored))]


@pytest.mark.parametrize(
    ("query", "found"),
    [("ışık", ["Işık", "IŞIK"]), ("inşaat", ["İNŞAAT"]), ("sukru caglar", ["Şükrü ÇAĞLAR"])],
)
def test_names_are_found_with_and_without_turkish_letters(query: str, found: list[str]) -> None:
    names = ["Işık", "IŞIK", "İNŞAAT", "Şükrü ÇAĞLAR"]
    assert [name for name in names if find(name, query)] == found


def test_exact_prefixes_come_before_relaxed_ones() -> None:
    towns = ["İSPANYA", "ISPARTA", "İSPAT", "ISPANAK"]
    assert prefix_matches("ısp", towns, relaxed=False) == ["ISPARTA", "ISPANAK"]
    assert prefix_matches("ısp", towns) == ["ISPARTA", "ISPANAK", "İSPANYA", "İSPAT"]
    assert prefix_matches("isp", towns)[:2] == ["İSPANYA", "İSPAT"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("sozlesme feshi", "sözleşme"),
        ("sözleşme feshi", "sozlesme"),
        ("PDF FILE ID", "file id"),
        ("PDF FILE ID", "FILE ID"),
        ("pdf file id", "FİLE ID"),
        ("veriﬁcation workﬂow", "verification"),
        ("veriﬁcation workﬂow", "workflow"),
        ("satın-\nalma müdürü", "satınalma"),
        ("satın­alma", "satınalma"),
        ("şirket\nmüdürü", "şirket müdürü"),
    ],
)
def test_hasty_typing_codes_and_layout_do_not_hide_a_hit(text: str, query: str) -> None:
    assert find(text, query)


def test_the_dictionary_order_is_turkish() -> None:
    ordered = ["Cizre", "Çorum", "Denizli", "Iğdır", "Isparta", "İzmir", "Sivas", "Şırnak", "Uşak", "Ünye"]
    shuffled = ordered[:]
    random.Random(7).shuffle(shuffled)
    assert sorted(shuffled, key=sort_key) == ordered


def test_accents_and_digits_keep_their_place_in_the_order() -> None:
    assert sorted(["kâr", "kar", "kara", "2. kat", "10", "zil", "Ak Su", "Aka"], key=sort_key) == [
        "10", "2. kat", "Ak Su", "Aka", "kar", "kâr", "kara", "zil",
    ]  # fmt: skip


@pytest.mark.parametrize("apostrophe", "'’ʼ`")
def test_a_suffix_after_an_apostrophe_is_no_word(apostrophe: str) -> None:
    text = f"Ankara{apostrophe}dan geldi"
    assert [(word.text, word.start, word.end) for word in words(text)] == [
        ("Ankara", 0, 6),
        ("geldi", 11, 16),
    ]
    assert find(text, "ankara") and not find(text, "dan")


def test_an_apostrophe_inside_a_name_stays() -> None:
    assert strip_suffix("O'Brien") == "O'Brien"
    assert strip_suffix("İzmir’deki") == "İzmir"
    assert strip_suffix("2019'dan") == "2019"
    assert strip_suffix("TÜBİTAK'ın") == "TÜBİTAK"


def test_places_are_those_of_the_stored_text() -> None:
    (hit,) = find("İstanbul Sözleşmesi", "sözleşmesi")
    assert (hit.start, hit.end, hit.level) == (9, 19, "exact")
    assert find("İİİİ ﬁnans ﬁnans", "finans")[1].start == 11


@pytest.mark.parametrize(
    ("text", "query", "stretch"),
    [
        ("R üş vet iddiası", "rüşvet", "R üş vet"),
        ("Soz leş me metni", "sözleşme", "Soz leş me"),
        ("b\n lg\n  dosyası", "bilgi", "b\n lg\n"),
        ("Tedar\n k zinciri", "tedarik", "Tedar\n k"),
    ],
)
def test_words_torn_by_a_text_layer_are_found_in_place(text: str, query: str, stretch: str) -> None:
    (hit,) = find(text, query)
    assert hit.level == "broken"
    assert text[hit.start : hit.end].strip() == stretch.strip()


def test_a_torn_page_is_told_from_a_whole_one() -> None:
    assert looks_broken("R üş vet suçu")
    assert looks_broken("Tedar\n k z\n nc\n r\n  yönet\n m\n")
    whole = "Ben de o işi C ile yaptım, ama T ve B değil. İş için üç ay, R&D ve HR. e-posta: a@b.co; 5 kg un."
    assert not looks_broken(whole), broken_share(whole)
    assert broken_share("") == 0.0


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(TURKISH_TEXT)
def test_both_keys_are_stable_and_the_relaxed_one_is_coarser(text: str) -> None:
    assert exact_key(exact_key(text)) == exact_key(text)
    assert fold(exact_key(text)) == fold(text)
    assert fold(unicodedata.normalize("NFD", text)) == fold(text)


@given(st.text(max_size=60), st.booleans(), st.booleans())
def test_the_offset_map_leads_back_to_the_same_letters(text: str, relaxed: bool, collapse: bool) -> None:
    made = key(text, relaxed=relaxed, collapse=collapse)
    assert len(made.text) == len(made.starts) == len(made.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(made.starts, made.ends, strict=True))
    assert list(made.starts) == sorted(made.starts)


@given(TURKISH_TEXT, st.data())
def test_a_hit_holds_the_letters_of_the_query(text: str, data: st.DataObject) -> None:
    spots = [word for word in words(text) if len(word.text) > 1]
    if not spots:
        return
    word = data.draw(st.sampled_from(spots))
    query = text[word.start : word.end]
    hits = find(text, query.upper()) if fold(query.upper()) == fold(query) else find(text, query)
    assert hits
    for hit in hits:
        assert fold(text[hit.start : hit.end]).replace(" ", "") == fold(query).replace(" ", "")
