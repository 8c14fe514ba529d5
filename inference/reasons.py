"""What the stages and the gateway note about their work: in English in record and log, in the reader's language on a page."""

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
    ORDER_CHANGED = "the passages would stand in another order"
    CUT_INSIDE = "a removal would cut inside a word or a protected field of %(piece)s"
    REQUIRED_GONE = "a required field of %(piece)s (%(kind)s) would be gone"
    STILL_OVER = "%(tokens)s tokens are left, the question's budget is %(budget)s; nothing more may go"
    SALT_MISSING = "one-time salt: %(missing)s is missing"
    SALT_OFF = "one-time salt: the task switches sharing off"
    SHARED = "shared inside the tenant, class %(trust_class)s, epoch %(epoch)s"
    BATCH = "batch: within %(minutes)s minutes"
    PERSON_WAITS = "a person waits: %(band)s"
    OWN_BAND = "the band of the task: %(band)s"
    USELESS = "useless after %(seconds)s s"
    PUT_OFF = "put off to the batch clock: the first word within %(seconds)s s could not be kept"


class EngineNote(Sentence):
    """What the gateway knows of the engine's life: why it is not ready, or what it waits for."""

    PREPARING = "preparing the model"
    LOADING = "loading the model"
    STARTING = "starting"
    REMOTE = "waiting for the remote engine"
    BROKE = "a stream broke"
    STOPS = "the gateway stops"
    STOPPED = "stopped"
    NO_TOKENIZER = "give NEKIBU_MODEL, the directory with the remote model's tokenizer.json"
    NOT_READY = "not ready after %(seconds)s s"
    NO_PROBE = "the first probe failed: %(error)s"
    NO_ANSWER = "the engine did not answer after a broken stream"
    SILENT = "no token for %(seconds)s s"
    BREAKS = "%(count)s streams broke within %(seconds)s s"
    DISAGREES = "%(name)s is %(found)s, but %(other)s in the same pool has %(wanted)s"
    REMOTE_GONE = "the remote engine does not answer"
    ENDED = "the engine ended with status %(code)s"
    OTHER_SETTING = "the engine runs with %(name)s=%(found)s instead of %(wanted)s"
    UNSAFE_SETTING = "the engine runs with a setting that does not keep tenants apart"
    NO_SIZE = "the engine does not say how much it can hold"
    NO_REPORT = "the engine does not report cached tokens"
    SHARES = "the engine shares computed tokens between namespaces (%(found)s)"
    ROUTER_DROPS = "the router passes on neither cache_salt nor extra_key, so namespaces would share computed tokens (%(found)s)"
    ROUTER_SPREADS = "the router does not lead equal prefixes to where they were computed (%(found)s)"
    WORKERS_DIFFER = (
        "the server %(server)s behind the router has the revision %(found)s instead of %(wanted)s"
    )
    WORKERS_CHANGED = "other servers stand behind the router"
    NO_REUSE = "the engine does not reuse computed tokens within a namespace (%(found)s)"
