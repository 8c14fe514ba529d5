"""A log line is one JSON object, and says which decision it is about where there is one."""

from __future__ import annotations

import json
import logging
import sys
from logging.config import DictConfigurator

import pytest
from structlog.contextvars import bound_contextvars

from nekibu.logs import config


@pytest.fixture
def line():
    """`line(message, *arguments, **extra)` → the written line, read as JSON."""
    chosen = config({})
    formatter = DictConfigurator(chosen).configure_formatter(chosen["formatters"]["json"])

    def write(message, *arguments, error=None, **extra):
        record = logging.getLogger("inference.somewhere").makeRecord(
            "inference.somewhere", logging.WARNING, "file.py", 1, message, arguments, error, extra=extra
        )
        written = formatter.format(record)
        assert "\n" not in written
        return json.loads(written)

    return write


def test_a_line_names_its_time_its_level_its_place_and_what_was_added(line):
    found = line("work %s failed", "seven", band="batch")
    assert (found["event"], found["level"], found["logger"], found["band"]) == (
        "work seven failed", "warning", "inference.somewhere", "batch",
    )  # fmt: skip
    assert found["timestamp"].endswith("Z")


def test_a_line_within_a_decision_carries_its_id_and_one_outside_does_not(line):
    with bound_contextvars(decision_id="d-1"):
        assert line("inside")["decision_id"] == "d-1"
    assert "decision_id" not in line("outside")


def test_an_error_is_in_the_line_with_its_trace(line):
    try:
        raise ValueError("no")
    except ValueError:
        found = line("broke", error=sys.exc_info())
    assert "ValueError: no" in found["exception"]


def test_turkish_stays_readable(line):
    assert line("süre doldu")["event"] == "süre doldu"
