"""A text made to be slow costs no more than its length: everything that reads a CV outside the sandbox passes it once."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

READ = """
import sys
from datetime import date
from ats.rules import judge
from inference.protected import scan
from nekibu.files.parsers.injection import suspicions
from nekibu.language.mask import mask
from nekibu.language.search import find, looks_broken

text = (sys.argv[1] * 30_000)[:30_000]
rules = [
    {"type": "experience_months", "min": 60}, {"type": "language_level", "language": "en", "min": "B2"},
    {"type": "licence", "class": "B"}, {"type": "term", "any": ["C++", "Node.js", "İş Analizi", "R"]},
]
for rule in rules:
    judge(rule, text, date(2026, 6, 30))
assert len(mask(text, names=["Ayşe Yılmaz"]).text) == len(text)
scan(text), suspicions(text), find(text, "sözleşme metni"), looks_broken(text)
"""
SECONDS = (
    30  # of processor time, of which one pass takes less than five and a pass for every place takes minutes
)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@pytest.mark.parametrize("unit", ["2019-2020 ", "01/02/", "+1 (", "B,", "bin ", "\n"], ids=repr)
def test_an_endless_repetition_is_read_in_one_pass(unit: str) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", READ, unit], cwd=root, preexec_fn=_limit, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()[-500:]
