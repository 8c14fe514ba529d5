"""Byte ranges of a download."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.files.ranges import span_of


@pytest.mark.parametrize(
    ("asked", "span"),
    [
        ("", None),
        ("bytes=0-", (0, 10)),
        ("bytes=0-0", (0, 1)),
        ("bytes=3-5", (3, 6)),
        ("bytes=3-99", (3, 10)),
        ("bytes=-4", (6, 10)),
        ("bytes=-99", (0, 10)),
        ("bytes=-0", (0, 0)),
        ("bytes=10-", (0, 0)),
        ("bytes=5-3", None),
        ("bytes=-", None),
        ("bytes=0-1,3-4", None),
        ("items=0-1", None),
    ],
)
def test_what_a_header_asks_for(asked, span):
    assert span_of(asked, 10) == span


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 50))
def test_a_range_never_leaves_the_file(first, last, size):
    span = span_of(f"bytes={first}-{last}", size)
    if span not in {None, (0, 0)}:
        start, end = span
        assert 0 <= start < end <= size
        assert start == first
