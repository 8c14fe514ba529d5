"""What the stages note about their work: sentences of the record, in English there and in the reader's language on a page."""

from __future__ import annotations

from nekibu.sentences import Sentence


class Noted(Sentence):
    """A reason that a stage leaves in its step."""

    IMPACT = "impact %(impact)s, %(reversibility)s: %(risk)s"
    OPT_OUT = "the person concerned does not want a machine's answer"
    ADVERSE = "an effect against a person: a person agrees to every answer"
    FLAG = "noticed before reading: %(flag)s"
    ORDERS = "text that reads like an order to the machine in %(pieces)s"
    OVER_BUDGET = "%(count)s pieces, the budget allows %(allowed)s"
    COMPRESSION_OFF = "the task switches compression off"
    COMPRESSION_REFUSED = "COMPRESSION_REFUSED"
    NOTHING_TO_REMOVE = "nothing to remove"
    FIELDS_DIFFER = "the protected fields before and after are not the same multiset"
    NO_COPY = "%(piece)s is not a copy of %(kept)s"
    TWIN_GONE = "%(kept)s, the twin of %(piece)s, was removed as well"
    SALT_MISSING = "one-time salt: %(missing)s is missing"
    SALT_OFF = "one-time salt: the task switches sharing off"
    SHARED = "shared inside the tenant, class %(trust_class)s, epoch %(epoch)s"
    BATCH = "batch: within %(minutes)s minutes"
    PERSON_WAITS = "a person waits: %(band)s"
    OWN_BAND = "the band of the task: %(band)s"
    USELESS = "useless after %(seconds)s s"
