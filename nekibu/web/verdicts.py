"""How a verdict and its states look and read: an icon, a word, and one sentence of meaning. Colour comes third."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


@dataclass(frozen=True, slots=True)
class Look:
    """What a chip shows."""

    icon: str
    label: str | Promise
    meaning: str | Promise


LOOKS = {
    "met": Look(
        "circle-check", pgettext_lazy("verdict", "Met"), _("The document shows that the criterion is met.")
    ),
    "partly": Look(
        "contrast",
        pgettext_lazy("verdict", "Partly met"),
        _("The document shows a part of what the criterion asks."),
    ),
    "not_met": Look(
        "circle-x",
        pgettext_lazy("verdict", "Not met"),
        _("The document shows that the criterion is not met."),
    ),
    "not_stated": Look(
        "circle-dashed",
        pgettext_lazy("verdict", "Not stated"),
        _("The document says nothing about it. That is no failure."),
    ),
    "unsupported": Look("unlink", _("Unsupported"), _("The cited passage does not support the verdict.")),
    "conflict": Look("git-compare", _("Conflict"), _("Passages of the document contradict each other.")),
    "unstable": Look("waves", _("Unstable"), _("Asked again, the answer was another one.")),
    "needs_person": Look(
        "user-round-search", _("Needs a person"), _("A person has to look at this and decide.")
    ),
    "unsure": Look("circle-question-mark", _("Unsure"), _("The model was not sure enough.")),
}


def look_of(name: str) -> Look:
    """The look of a verdict or state; an unknown name is shown as it is, never hidden."""
    return LOOKS.get(name) or Look("circle-question-mark", name, "")
