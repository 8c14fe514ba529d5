"""Turns a plan into the words of one CV: sections of lines, each line knowing which criteria it supports."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Literal

from samples import people, phrases_en, phrases_tr, timeline
from samples.catalogue import Plan
from samples.rubrics import JOBS

Style = Literal["text", "head", "dates", "bullet"]
MIN_WORDS = 290
LIGATURE_LINE = "Owned the veriﬁcation workﬂow of incoming invoices in a certiﬁed environment."


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence, list item or heading as the writer meant it, before any page breaks it."""

    text: str
    style: Style = "text"
    supports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One employment: role and firm, dates, and what was done there."""

    head: Line
    dates: Line
    bullets: tuple[Line, ...]

    def lines(self) -> tuple[Line, ...]:
        return (self.head, self.dates, *self.bullets)


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part; only `experience` has entries, the others have lines."""

    key: str
    title: Line
    lines: tuple[Line, ...] = ()
    entries: tuple[Entry, ...] = ()

    def all_lines(self) -> Iterator[Line]:
        yield self.title
        yield from self.lines
        for entry in self.entries:
            yield from entry.lines()


@dataclass(frozen=True, slots=True)
class CV:
    """The whole CV with the facts its truth record is made from."""

    plan: Plan
    person: people.Person
    name: Line
    headline: Line
    contact: Line
    sections: tuple[Section, ...]
    spans: tuple[timeline.Span, ...]
    hidden: tuple[str, ...]
    protected: tuple[str, ...]

    def all_lines(self) -> Iterator[Line]:
        yield from (self.name, self.headline, self.contact)
        for section in self.sections:
            yield from section.all_lines()

    def words(self) -> int:
        return sum(len(line.text.split()) for line in self.all_lines())


def compose(rng: random.Random, plan: Plan, number: int, as_of: timeline.Month, taken: set[str]) -> CV:
    """The CV of that plan in the words this generator state gives; `taken` are the names used before."""
    bank = phrases_tr if plan.language == "tr" else phrases_en
    family = "outsider" if "outsider" in plan.traps else plan.job
    person = people.invent(rng, plan.language, number, taken)
    spans = timeline.plan(rng, plan.dates, _threshold(plan.job), as_of)
    name = unicodedata.normalize("NFD", person.name) if "decomposed_name" in plan.traps else person.name
    protected: tuple[str, ...] = ()
    sections = [
        Section("summary", _title(bank, "summary"), tuple(_summary(bank, family, plan))),
        _experience(rng, bank, family, plan, spans),
        Section("education", _title(bank, "education"), (_education(rng, bank, family, plan, spans),)),
        Section("skills", _title(bank, "skills"), tuple(Line(t, "bullet") for t in bank.SKILLS[family])),
        Section("languages", _title(bank, "languages"), tuple(_languages(rng, bank, plan))),
        Section("certificates", _title(bank, "certificates"), tuple(_certificates(rng, bank, family))),
        Section("other", _title(bank, "other"), tuple(_other(rng, bank, plan))),
    ]
    if "personal" in plan.traps:
        values = {"yy": f"{rng.randint(80, 96)}", "marital": rng.choice(bank.MARITAL)}
        protected = tuple(text.format(**values) for text in bank.PERSONAL)
        sections.insert(0, Section("personal", _title(bank, "personal"), tuple(Line(t) for t in protected)))
    cv = CV(
        plan,
        person,
        Line(name, "head"),
        Line(bank.TITLES[family][0]),
        Line(f"{person.email} | {person.phone} | {person.city}"),
        tuple(sections),
        tuple(spans),
        (bank.HIDDEN,) if any(trap.startswith("hidden_") for trap in plan.traps) else (),
        protected,
    )
    return _fill(rng, cv, bank, family)


def _threshold(job: str) -> int:
    rule = JOBS[job].criterion("experience").rule
    assert rule is not None  # noqa: S101  the rubric is a constant of this package
    return int(rule["min"])


def _title(bank: ModuleType, key: str) -> Line:
    return Line(bank.HEADINGS[key], "head")


def _summary(bank: ModuleType, family: str, plan: Plan) -> Iterator[Line]:
    yield from (Line(text) for text in bank.SUMMARY[family])
    if "claim" in plan.traps:
        yield Line(bank.CLAIM, supports=("experience",))
    if "language_conflict" in plan.traps:
        yield Line(bank.LANGUAGE_CLAIM, supports=("english",))


def _experience(
    rng: random.Random, bank: ModuleType, family: str, plan: Plan, spans: list[timeline.Span]
) -> Section:
    firms = rng.sample(people.FIRMS_TR if plan.language == "tr" else people.FIRMS_EN, len(spans))
    written = timeline.write(rng, spans, plan.language)
    bullets: list[list[Line]] = [[] for _ in spans]
    for key in ("negotiation", "erp", "python_django", "postgresql", "cloud_iso"):
        if key in plan.verdicts:
            text = rng.choice(bank.EVIDENCE[key, plan.verdicts[key]])
            bullets[rng.randrange(len(spans))].append(Line(text, "bullet", (key,)))
    if "injection" in plan.traps:
        bullets[-1].extend(Line(text, "bullet") for text in bank.INJECTION)
    if "ligatures" in plan.traps:
        bullets[0].append(Line(LIGATURE_LINE, "bullet"))
    entries = [
        Entry(
            Line(f"{bank.TITLES[family][min(place, 3)]}, {firm}", "head"),
            Line(dates, "dates", ("experience",)),
            tuple(own),
        )
        for place, (firm, dates, own) in enumerate(zip(firms, written, bullets, strict=True))
    ]
    return Section("experience", _title(bank, "experience"), (), tuple(entries))


def _fill(rng: random.Random, cv: CV, bank: ModuleType, family: str) -> CV:
    """Adds ordinary bullets, two an employment at least, until the CV is long enough to be a real one."""
    filler = rng.sample(bank.FILLER[family], len(bank.FILLER[family]))
    place = next(i for i, section in enumerate(cv.sections) if section.key == "experience")
    section = cv.sections[place]
    added: list[list[Line]] = [[] for _ in section.entries]
    words = cv.words()
    for turn, text in enumerate(filler):
        if turn >= 2 * len(added) and words >= MIN_WORDS:
            break
        added[turn % len(added)].append(Line(text, "bullet"))
        words += len(text.split())
    entries = []
    for entry, extra in zip(section.entries, added, strict=True):
        bullets = [*entry.bullets, *extra]
        rng.shuffle(bullets)
        entries.append(replace(entry, bullets=tuple(bullets)))
    sections = list(cv.sections)
    sections[place] = replace(section, entries=tuple(entries))
    return replace(cv, sections=tuple(sections))


def _education(
    rng: random.Random, bank: ModuleType, family: str, plan: Plan, spans: list[timeline.Span]
) -> Line:
    school = rng.choice(people.SCHOOLS_TR if plan.language == "tr" else people.SCHOOLS_EN)
    end = min(span.start[0] for span in spans) - 1
    years = f"{end - 4} – {end}" if "education_range" in plan.traps else f"{end}"
    return Line(f"{rng.choice(bank.DEGREES[family])}, {school}, {years}")


def _languages(rng: random.Random, bank: ModuleType, plan: Plan) -> Iterator[Line]:
    yield Line(bank.NATIVE)
    if "english" in plan.verdicts:
        yield Line(rng.choice(bank.LEVELS[plan.verdicts["english"]]), supports=("english",))
    yield Line(rng.choice(bank.OTHER_LANGUAGE))


def _certificates(rng: random.Random, bank: ModuleType, family: str) -> Iterator[Line]:
    for text in rng.sample(bank.CERTIFICATES[family], 2):
        yield Line(text, "bullet")


def _other(rng: random.Random, bank: ModuleType, plan: Plan) -> Iterator[Line]:
    if "licence" in plan.verdicts:
        yield Line(rng.choice(bank.EVIDENCE["licence", plan.verdicts["licence"]]), supports=("licence",))
    for text in rng.sample(bank.OTHER, 2):
        yield Line(text)
