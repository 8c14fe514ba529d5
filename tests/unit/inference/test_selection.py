"""Selection leaves out what a question does not need, by whole units, and never what is protected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference.compression import Selection, compress, selection_for
from inference.protected import clauses, extract, multiset
from inference.types import RetrievalBudget
from tests.cases import case
from tests.unit.inference.specs import pieces

WORDS = str.split


def asked(question="Ödeme vadesi nedir?", budget=0, whole=False, neighbours=0, required=None, terms=()):
    return Selection(question, terms, budget, whole, neighbours, 0.15, required)


def run(found, selection=None, mode="select"):
    return compress(
        found,
        extract(found),
        mode=mode,
        extract=extract,
        count=lambda text: len(WORDS(text)),
        cut=clauses,
        selection=selection or asked(),
    )


TALK = (
    "Firma Ankara merkezli bir kuruluştur. Bahçede güzel ağaçlar vardır.",
    "Ödemeler ay sonunda yapılır. Toplantı odası geniştir.",
)


def test_clauses_off_the_question_go_whole_until_the_budget_holds():
    result = run(pieces(*TALK), asked(budget=8))
    assert [p.text for p in result.evidence] == ["Ödemeler ay sonunda yapılır."]
    assert {r.reason for r in result.removals} == {"OFF_QUESTION"}
    assert [p.id for p in result.evidence] == ["E2"]


def test_within_the_budget_everything_stays():
    result = run(pieces(*TALK), asked(budget=100))
    assert (result.evidence, result.removals) == (pieces(*TALK), ())


def test_the_same_evidence_is_cut_differently_for_another_question():
    result = run(pieces(*TALK), asked("Ağaç var mı?", budget=8))
    assert [p.text for p in result.evidence] == ["Bahçede güzel ağaçlar vardır."]


def test_where_less_fits_less_is_kept_and_each_reason_is_its_own():
    found = pieces(
        "Ödeme vadesi ve ödeme günü burada yazar", "Vade sözcüğü geçer", "Hava bugün açıktır", "Ödeme vadesi nedir bölümü"
    )  # fmt: skip
    result = run(found, asked(budget=4))
    assert dict.fromkeys(r.reason for r in result.removals) == dict.fromkeys(["OVER_BUDGET", "OFF_QUESTION"])
    weak = replace(found[1], score=0.01)
    strong = replace(found[0], score=9.0)
    low = run((strong, weak), asked("Hava", budget=7))
    assert [(r.evidence_id, r.reason) for r in low.removals] == [("E2", "LOW_SCORE")]


def test_a_replaced_version_goes_where_the_new_one_is_there():
    old, new = pieces("Ceza %1 olur", "Ceza %2 olur")
    old = replace(old, version_id="v0", findings=("superseded_version",))
    result = run((old, new), asked("ceza", budget=100))
    assert [(r.evidence_id, r.reason) for r in result.removals] == [("E1", "SUPERSEDED_VERSION")]
    assert run((old,), asked("ceza", budget=100)).removals == ()


def test_the_same_words_said_again_go_and_a_denial_stays():
    said = "Yüklenici malları zamanında depoya sevk eder"
    result = run(
        pieces(said, f"{said.upper().replace('SEVK', 've SEVK')}!", f"{said[:-4]}etmez"), asked(budget=100)
    )
    assert [(r.evidence_id, r.reason, r.kept) for r in result.removals] == [("E2", "NEAR_DUP", "E1")]


def test_equal_words_with_other_figures_are_not_the_same():
    line = "Yüklenici malları {} günü depoya sevk eder"
    assert run(pieces(line.format("01.02.2026"), line.format("01.03.2026")), asked(budget=100)).removals == ()


@pytest.mark.parametrize("finding", ["contradicts"])
def test_what_contradicts_stays(finding):
    found = tuple(replace(p, findings=(finding,)) for p in pieces(*TALK))
    assert run(found).removals == ()


class TestHighRisk:
    """R2 and R3: whole pieces only, only over the budget, and never beside what fits."""

    found = pieces(
        "Bir. İki.", "Komşu satır.", "Ödeme vadesi budur. Hava açık.", "Öteki komşu.", "Üç. Dört.", "Beş."
    )

    def test_nothing_goes_within_the_budget(self):
        old = replace(self.found[0], findings=("superseded_version",))
        assert run((old, *self.found[1:]), asked(budget=100, whole=True, neighbours=1)).removals == ()

    def test_whole_pieces_off_the_question_go_and_neighbours_stay(self):
        result = run(self.found, asked(budget=0, whole=True, neighbours=1))
        assert [p.id for p in result.evidence] == ["E2", "E3", "E4"]
        assert [p.text for p in result.evidence][1] == "Ödeme vadesi budur. Hava açık."
        assert {r.reason for r in result.removals} == {"OFF_QUESTION"}
        assert "tokens are left" in result.reasons[0]  # the caller sees that it still does not fit


def test_risk_and_question_set_the_budget():
    def budget(risk, room=10_000):
        chosen = selection_for(
            RetrievalBudget(tokens=1000), risk, question="", terms=(), room=room, required=None
        )
        return chosen.budget, chosen.whole_pieces, chosen.neighbours

    assert [budget(risk) for risk in ("R0", "R1", "R2", "R3")] == [
        (750, False, 0), (1000, False, 0), (1500, True, 1), (2000, True, 1),
    ]  # fmt: skip
    assert budget("R3", room=300)[0] == 300


@case("DOC-38")
def test_protected_fields_survive_byte_for_byte(row):
    text = "Araç plakası 34 ABC 123 idi. Hava güneşliydi ve kuşlar uçuyordu. Kimlik no 10000000146 görüldü. Tutar 12.500,00 TL oldu."
    found = pieces(text)
    result = run(found, asked(budget=1))
    assert [r.reason for r in result.removals] == ["OFF_QUESTION"]
    assert multiset(extract(result.evidence)) == multiset(extract(found))
    assert result.evidence[0].text == text.replace("Hava güneşliydi ve kuşlar uçuyordu. ", "")


@case("DOC-39")
def test_words_are_kept_whole_or_removed_whole(row):
    found = pieces("Hiperparametre optimizasyonu yapıldı. Bambaşka sözler söylendi; kahve içildi.")
    result = run(found, asked("optimizasyon", budget=3))
    before, after = WORDS(found[0].text), WORDS(" ".join(p.text for p in result.evidence))
    assert after == ["Hiperparametre", "optimizasyonu", "yapıldı."] and set(after) <= set(before)


@case("DOC-40")
def test_a_part_marked_not_to_be_compressed_is_unchanged(row):
    marked = replace(pieces("Bambaşka   bir\tsöz. Bambaşka   bir\tsöz.")[0], verbatim=True)
    found = (marked, *pieces(*TALK)[1:])
    result = run(found, asked(budget=1))
    assert result.evidence[0].text == marked.text
    assert run((marked, replace(marked, id="E9")), mode="lossless").evidence[1].text == marked.text


@case("DOC-41")
def test_an_obligation_in_the_last_sentence_survives(row):
    found = pieces("Hava güzeldi. Kuşlar öttü. Herkes mutluydu. Tedarikçi gizliliği korumakla yükümlüdür.")
    result = run(found, asked("Kargo ücreti?", budget=1))
    assert [p.text for p in result.evidence] == ["Tedarikçi gizliliği korumakla yükümlüdür."]


@case("DOC-42")
def test_a_list_of_numbers_keeps_order_and_separators(row):
    listed = "Kalemler 3, 7, 19, 22 and 45 seçildi."
    result = run(pieces(f"Hava   güzeldi. {listed}  Kuşlar öttü."), asked("Kargo?", budget=1))
    assert result.evidence[0].text == listed


def test_a_task_may_let_some_kinds_go_with_their_unit():
    found = pieces("Ofis 3. katta bulunur. Ödeme 30 gün sonra yapılmalıdır.")
    strict, free = (
        run(found, asked("Kargo?", budget=1, required=r)) for r in (None, frozenset({"obligation"}))
    )
    assert strict.removals == ()
    assert [p.text for p in free.evidence] == ["Ödeme 30 gün sonra yapılmalıdır."]
    assert free.fields_after < free.fields_before
