"""The engine's figures are made of what ran at the same time, and judged in the direction that they mean."""

from __future__ import annotations

import pytest

from benchmarks.cpu_engine import NoFigure, Round, Stream, _figures, rate


def stream(first: float, step: float, tokens: int) -> Stream:
    return Stream(sent=0.0, tokens=tuple(first + step * n for n in range(tokens)), cached=0)


def test_a_rate_counts_only_while_every_stream_runs() -> None:
    """The early one has fifteen tokens behind 2.0, the late one ten: both until 3.0, where the late one ends."""
    early, late = stream(first=1.0, step=0.1, tokens=31), stream(first=2.0, step=0.1, tokens=11)
    assert rate([early, late]) == pytest.approx(20.0, rel=0.06)


def test_streams_that_never_met_give_no_rate() -> None:
    with pytest.raises(NoFigure):
        rate([stream(first=1.0, step=0.1, tokens=5), stream(first=9.0, step=0.1, tokens=5)])


def test_each_ratio_is_taken_within_its_round() -> None:
    """A round in which the whole machine was half as fast changes no ratio."""
    ours = Round(warm=0.1, cold=0.5, alone=100, eight=400, sixteen=600, beside=90)
    stock = Round(warm=0.6, cold=1.5, alone=16, eight=90, sixteen=120, beside=1)
    slow = [
        Round(r.warm * 2, r.cold * 2, r.alone / 2, r.eight / 2, r.sixteen / 2, r.beside / 2)
        for r in (ours, stock)
    ]
    figures = _figures([(ours, stock), (slow[0], slow[1])])
    assert [figure.value for figure in figures[:5]] == pytest.approx([1 / 6, 6.25, 5.0, 3.0, 0.9])
    assert all(figure.holds for figure in figures[:5])
    assert [figure.holds for figure in figures[5:]] == [None, None]


def test_slower_than_stock_misses_every_target() -> None:
    ours = Round(warm=1.0, cold=2.0, alone=10, eight=50, sixteen=60, beside=1)
    stock = Round(warm=0.6, cold=1.5, alone=16, eight=90, sixteen=120, beside=1)
    assert [figure.holds for figure in _figures([(ours, stock)])[:5]] == [False] * 5
