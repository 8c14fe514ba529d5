"""Makes the whole set: files and their truth, the same bytes for the same seed, count and date."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samples import content, pdf, timeline, truth, word
from samples.catalogue import PLANS, Plan
from samples.content import CV
from samples.shown import Rendered

AS_OF: timeline.Month = (2026, 11)
SEED, COUNT = 7, 24


@dataclass(frozen=True, slots=True)
class Sample:
    """One finished file with its truth record."""

    name: str
    body: bytes
    truth: dict[str, Any]


def generate(seed: int = SEED, count: int = COUNT, as_of: timeline.Month = AS_OF) -> Iterator[Sample]:
    """`count` CVs in the order of the catalogue, which starts again after its last plan.

    Each CV has its own random state, so a smaller count gives the first files of a larger one.
    """
    names: set[str] = set()
    people: set[str] = set()
    for number in range(count):
        plan = PLANS[number % len(PLANS)]
        cv = content.compose(random.Random(f"{seed}/{number}"), plan, number + 1, as_of, people)
        rendered = render(cv)
        name = _file_name(plan, cv, names)
        record = truth.record(cv, name, rendered, as_of) | {
            "sha256": hashlib.sha256(rendered.body).hexdigest()
        }
        yield Sample(name, rendered.body, record)


def render(cv: CV) -> Rendered:
    """The file of a CV in the format its layout names."""
    if cv.plan.layout == "txt":
        return word.render_text(cv)
    return word.render(cv) if cv.plan.layout.startswith("docx") else pdf.render(cv)


def write(folder: Path, seed: int = SEED, count: int = COUNT, as_of: timeline.Month = AS_OF) -> list[Sample]:
    """Writes the files and `truth.json` into the folder and returns them."""
    folder.mkdir(parents=True, exist_ok=True)
    samples = list(generate(seed, count, as_of))
    for sample in samples:
        (folder / sample.name).write_bytes(sample.body)
    whole = {
        "seed": seed,
        "count": count,
        "as_of": f"{as_of[0]}-{as_of[1]:02d}",
        "cvs": [sample.truth for sample in samples],
    }
    text = json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True)
    (folder / "truth.json").write_text(text + "\n", encoding="utf-8")
    return samples


def _file_name(plan: Plan, cv: CV, taken: set[str]) -> str:
    name = plan.file_name.format(first=cv.person.first, last=cv.person.last)
    stem, dot, ending = name.rpartition(".")
    number = 2
    while name in taken:
        name = f"{stem} ({number}){dot}{ending}"
        number += 1
    taken.add(name)
    return name
