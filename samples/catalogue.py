"""The twenty-four plans of the demo: which job, language, layout, dates, verdicts and traps each CV has."""

from __future__ import annotations

from dataclasses import dataclass, field

Verdicts = dict[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one CV must be; the seed decides who, where and in which words.

    `layout` is one of pdf-one, pdf-two-rows, pdf-two-columns, pdf-table, pdf-scan, pdf-mixed, docx-plain,
    docx-table, docx-boxes, docx-sidebar, txt. A criterion missing from `verdicts` is not stated in the CV.
    """

    job: str
    language: str
    layout: str
    file_name: str
    dates: str
    verdicts: Verdicts = field(default_factory=dict)
    traps: tuple[str, ...] = ()


def _buyer(negotiation: str = "", english: str = "", erp: str = "", licence: str = "") -> Verdicts:
    return _stated(negotiation=negotiation, english=english, erp=erp, licence=licence)


def _backend(
    python_django: str = "", postgresql: str = "", english: str = "", cloud_iso: str = ""
) -> Verdicts:
    return _stated(python_django=python_django, postgresql=postgresql, english=english, cloud_iso=cloud_iso)


def _stated(**verdicts: str) -> Verdicts:
    return {key: verdict for key, verdict in verdicts.items() if verdict}


PLANS: tuple[Plan, ...] = (
    Plan("buyer", "tr", "pdf-one", "CV_{first}_{last}.pdf", "open", _buyer("met", "met", "met", "met")),
    Plan("buyer", "tr", "docx-plain", "özgeçmiş_{first}.docx", "closed", _buyer("met", "met", "partly", "met"),
         ("decomposed_name",)),
    Plan("buyer", "tr", "pdf-two-rows", "{first} {last} özgeçmiş (son).pdf", "gap",
         _buyer("partly", "met", "met", "met")),
    Plan("buyer", "tr", "pdf-two-columns", "{last}_CV.pdf", "years_unsure", _buyer("met", "not_met", "met", "met")),
    Plan("buyer", "tr", "pdf-table", "ÖZGEÇMİŞ {last}.pdf", "overlap", _buyer("met", "met", "not_met", "met")),
    Plan("buyer", "tr", "pdf-scan", "tarama_{first}.pdf", "open", _buyer("met", "met", "met", "met")),
    Plan("buyer", "tr", "pdf-mixed", "{first}-{last}-cv.pdf", "closed", _buyer("met", "met", "met", "met")),
    Plan("buyer", "tr", "docx-boxes", "CV; “son” {last}.docx", "closed", _buyer("partly", "met", "", "met")),
    Plan("buyer", "tr", "pdf-one", "ozgecmis_{last}.pdf", "short", _buyer("", "not_met", "partly", "met"),
         ("hidden_white", "education_range")),
    Plan("buyer", "en", "docx-table", "Resume {first} {last}.docx", "open", _buyer("met", "met", "met", "met"),
         ("contact_in_header",)),
    Plan("buyer", "en", "pdf-one", "{first}_{last}_resume.pdf", "closed", _buyer("not_met", "met", "met", "met"),
         ("injection",)),
    Plan("buyer", "en", "pdf-two-rows", "{last}, {first}.pdf", "reversed", _buyer("met", "met", "", "not_met")),
    Plan("buyer", "en", "txt", "{first} {last} CV.txt", "open", _buyer("met", "", "partly", "met")),
    Plan("buyer", "tr", "docx-plain", "başvuru_{first}_{last}.docx", "closed", _buyer("", "not_met", "", ""),
         ("outsider", "personal")),
    Plan("backend", "en", "pdf-one", "cv-{last}-backend.pdf", "open", _backend("met", "met", "met", "met"),
         ("ligatures",)),
    Plan("backend", "en", "docx-sidebar", "{first} {last}.docx", "closed", _backend("met", "met", "met", "partly")),
    Plan("backend", "tr", "pdf-one", "{first}_{last}_özgeçmiş.pdf", "gap", _backend("partly", "met", "met", ""),
         ("hidden_mode3",)),
    Plan("backend", "tr", "docx-plain", "CV - {first} {last}.docx", "open", _backend("met", "", "met", "met"),
         ("hidden_vanish",)),
    Plan("backend", "en", "pdf-two-columns", "{first}{last}.pdf", "short", _backend("met", "met", "met", ""),
         ("claim", "white_on_dark")),
    Plan("backend", "tr", "pdf-table", "履歴書 {last} (1).pdf", "years", _backend("met", "met", "met", "met"),
         ("education_range",)),
    Plan("backend", "en", "pdf-one", "Application {last}.pdf", "closed", _backend("", "", "met", ""), ("outsider",)),
    Plan("backend", "tr", "docx-plain", "yazılım_{last}.docx", "closed", _backend("met", "met", "not_met", "partly"),
         ("language_conflict", "personal")),
    Plan("backend", "en", "pdf-one", "{last}_{first}_2026.pdf", "open", _backend("not_met", "met", "met", "not_met"),
         ("education_range",)),
    Plan("backend", "tr", "txt", "{first}_{last}.txt", "gap", _backend("met", "met", "met", "met"), ("injection",)),
)  # fmt: skip
