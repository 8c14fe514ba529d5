"""Many decisions at once, written by the database itself: what pages are measured on, without anybody deciding anything."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import psycopg

DAYS = 30
WAITING = 500  # of the newest, questions to people
DETAILED = 2_000  # the newest decisions have as many stages as real ones (without their reasons) and checks; older ones have their attempt and their facts

# (product, task, risk, share of all, seconds to the first token): what the figures are cut by.
MIX = (
    ("ats", "ats.criterion_first_pass", "R1", 0.45, 0.4),
    ("ats", "ats.criterion_review", "R2", 0.10, 0.9),
    ("documents", "documents.answer", "R0", 0.20, 0.3),
    ("procurement", "procurement.extract_quotation", "R2", 0.15, 1.4),
    ("studio", "studio.classify", "R1", 0.10, 0.2),
)

_DRAWN = """
CREATE TEMP TABLE drawn AS
WITH n AS (SELECT n, random() AS a, random() AS b, random() AS c, random() AS d, random() AS e, random() AS f
           FROM generate_series(1, %(decisions)s) AS n),
mix AS (SELECT *, sum(share) OVER (ORDER BY place) AS upper, sum(share) OVER (ORDER BY place) - share AS lower
        FROM (VALUES {mix}) AS mix (place, product, task, risk, share, first))
SELECT n.n, uuidv7(make_interval(secs => -at.age)) AS id, uuidv7(make_interval(secs => -at.age)) AS attempt,
       uuidv7() AS fact, now() - make_interval(secs => at.age) AS asked_at,
       mix.product, mix.task, mix.risk,
       CASE WHEN n.b < 0.2 THEN 'rules' WHEN n.b < 0.22 THEN 'person' ELSE 'economic' END AS tier,
       CASE WHEN n.c < 0.5 THEN 'batch' ELSE 'online' END AS clock,
       CASE WHEN n.c < 0.5 THEN 'batch' WHEN n.c < 0.8 THEN 'standard' ELSE 'interactive' END AS band,
       CASE WHEN n.b < 0.22 THEN '' WHEN n.d < 0.7 THEN 'hit' ELSE 'miss' END AS cache,
       CASE WHEN n.e < 0.88 THEN 'accepted' WHEN n.e < 0.93 THEN 'needs_person' WHEN n.e < 0.96 THEN 'failed'
            WHEN n.e < 0.98 THEN 'rejected' ELSE 'cancelled' END AS status,
       n.b >= 0.22 AS asked, mix.first * (0.5 + n.f) AS prefill, n.e / 0.25 AS gateway, n.d * 2 AS decode,
       1200 + (n.f * 2000)::int AS input, 60 + (n.a * 200)::int AS output
FROM n JOIN mix ON n.a >= mix.lower AND (n.a < mix.upper OR mix.upper > 0.999)
     CROSS JOIN LATERAL (SELECT (n.n + n.e) / %(decisions)s * {seconds} AS age) AS at
"""
_DECISIONS = """
INSERT INTO inference_decision
  (id, tenant_id, created_at, endpoint, idempotency_key, request_hash, task, task_version, product, spec_hash,
   subject_type, subject_id, subject_label, subject_url, actor, correlation, mode, locale, status, risk, tier, route_reason,
   clock, band, decided_by, valid, reason, cost_amount, cost_currency, cost_state, price_version, round, attempt_id,
   rested_at, closed_at)
SELECT id, %(tenant)s, asked_at, 'internal', 'many:' || n, '', task, 1, product, '', 'many.subject', (n %% 5000)::text,
       'Subject ' || n %% 5000, '', '{"name": "worker"}', '{}', clock, CASE WHEN n %% 3 = 0 THEN 'en' ELSE 'tr' END,
       status, risk, tier,
       CASE tier WHEN 'rules' THEN 'solver' WHEN 'person' THEN 'human_only' ELSE 'default' END, clock, band,
       CASE WHEN status = 'needs_person' THEN '' WHEN status = 'rejected' OR tier = 'person' THEN 'person'
            WHEN tier = 'rules' THEN 'rule' ELSE 'model' END,
       status = 'accepted', '', CASE WHEN asked THEN output * 0.00001 ELSE 0 END, CASE WHEN asked THEN 'USD' ELSE '' END,
       'current', '', 1, '', CASE WHEN status = 'needs_person' THEN asked_at + interval '4 seconds' END,
       CASE WHEN status <> 'needs_person' THEN asked_at + interval '4 seconds' END
FROM drawn
"""
_ATTEMPTS = """
INSERT INTO inference_attempt
  (id, tenant_id, created_at, decision_id, attempt_id, attempt_no, round, kind, collected, finish, cause, served_from,
   uncached, cache_read, cache_write_5m, cache_write_1h, output, input_total, dialect, estimated, usage_refused,
   gateway_queue, engine_queue, prefill, decode, ttft, tpot, requeues, max_out, engine, model, model_revision,
   engine_fingerprint, salt_id, price_version, cost_amount, cost_currency, cost_state)
SELECT attempt, %(tenant)s, asked_at, id, lpad(n::text, 32, '0'), 1, 1, 'primary', false,
       CASE status WHEN 'failed' THEN 'length' WHEN 'cancelled' THEN 'abort' ELSE 'stop' END, '', 'engine',
       CASE cache WHEN 'hit' THEN input / 3 ELSE input END, CASE cache WHEN 'hit' THEN input - input / 3 ELSE 0 END, 0, 0,
       output, input, 'sglang', '[]', '', gateway, 0.01, prefill, decode, prefill, decode / output, 0, 512, 'many', 'm', 'r',
       'f', 's', '', output * 0.00001, 'USD', 'current'
FROM drawn WHERE asked
"""
_SLICES = """
INSERT INTO econ_slice (id, tenant_id, created_at, product, task, node, risk, language, model, tier, clock, band, cache)
SELECT uuidv7(), %(tenant)s, now(), product, task, '', risk, 'tr', CASE WHEN asked THEN 'm' ELSE '' END, tier, clock, band, cache
FROM drawn GROUP BY product, task, risk, asked, tier, clock, band, cache
"""
_FACTS = """
INSERT INTO econ_fact
  (id, tenant_id, created_at, decision_id, attempt_id, slice_id, asked_at, ttft, tpot, input_total, uncached, cache_read,
   cache_write_5m, cache_write_1h, output, estimated, usage_refused, truncated, broken, cost_amount, cost_currency,
   cost_state, closing, status, valid, schema_failed, target, prepare, gateway_queue, engine_queue, prefill, decode, validate,
   approve, unattributed, e2e)
SELECT d.fact, %(tenant)s, now(), d.id, CASE WHEN asked THEN d.attempt END, s.id, asked_at,
       CASE WHEN asked THEN gateway + prefill END, CASE WHEN asked THEN decode / output END,
       CASE WHEN asked THEN input END, CASE WHEN asked THEN CASE d.cache WHEN 'hit' THEN input / 3 ELSE input END END,
       CASE WHEN asked THEN CASE d.cache WHEN 'hit' THEN input - input / 3 ELSE 0 END END,
       CASE WHEN asked THEN 0 END, CASE WHEN asked THEN 0 END, CASE WHEN asked THEN output END, false, false,
       status = 'failed', status = 'cancelled', CASE WHEN asked THEN output * 0.00001 ELSE 0 END,
       CASE WHEN asked THEN 'USD' ELSE '' END, 'current', true, status, status = 'accepted', false,
       CASE WHEN NOT asked THEN '' WHEN status = 'cancelled' THEN 'cancelled'
            WHEN gateway + prefill < 4 AND status <> 'failed' THEN 'met' ELSE 'missed' END,
       0.02, CASE WHEN asked THEN gateway END, CASE WHEN asked THEN 0.01 END, CASE WHEN asked THEN prefill END,
       CASE WHEN asked THEN decode END, 0.004, NULL, 0.001,
       0.025 + CASE WHEN asked THEN gateway + 0.01 + prefill + decode ELSE 0 END
FROM drawn d JOIN econ_slice s ON s.tenant_id = %(tenant)s AND s.product = d.product AND s.task = d.task AND s.risk = d.risk
  AND s.tier = d.tier AND s.clock = d.clock AND s.band = d.band AND s.cache = d.cache
  AND s.model = CASE WHEN d.asked THEN 'm' ELSE '' END
"""
_STEPS = """
INSERT INTO inference_step (id, tenant_id, created_at, decision_id, seq, round, stage, seconds, payload)
SELECT uuidv7(), %(tenant)s, asked_at, id, stage.seq, 1, stage.name, 0.002, '{"verdict": "ok"}'
FROM drawn, unnest(array_fill('checks'::text, ARRAY[9])) WITH ORDINALITY AS stage (name, seq)
WHERE n <= %(detailed)s
"""
_CHECKS = """
INSERT INTO inference_check (id, tenant_id, created_at, decision_id, attempt_no, round, seq, name, passed, findings)
SELECT uuidv7(), %(tenant)s, asked_at, id, 1, 1, c.seq, c.name, true, '[]'
FROM drawn, unnest(ARRAY['truncation', 'schema', 'sources', 'rules']) WITH ORDINALITY AS c (name, seq)
WHERE asked AND n <= %(detailed)s
"""
_CHAINS = """
INSERT INTO econ_prefix_chain (id, tenant_id, created_at, attempt_id, salt_id, tokens, blocks, shared_free, shared_kept)
SELECT uuidv7(), %(tenant)s, asked_at, attempt, 's', input, ''::bytea,
       CASE cache WHEN 'hit' THEN (input - input / 4) / 16 * 16 ELSE 16 END, CASE cache WHEN 'hit' THEN (input - input / 3) / 16 * 16 ELSE 0 END
FROM drawn WHERE asked AND asked_at > now() - interval '7 days'
"""
_WAITING = """
INSERT INTO approvals_request
  (id, tenant_id, created_at, kind, subject_type, subject_id, title, group_key, group_title, url, reasons, parameters, params_hash,
   seal, roles, quorum, four_eyes, risk, requested_by, editors, status)
SELECT uuidv7(), %(tenant)s, asked_at, 'many.question', 'many.question', id::text, 'Question ' || n, (n / 5)::text,
       'Subject ' || n / 5, '', '[]', '{}', '', '', '["admin"]', 1, false, risk, '{"name": "worker"}', '[]', 'pending'
FROM drawn WHERE n <= %(waiting)s
"""
TABLES = (
    "inference_decision",
    "inference_attempt",
    "inference_step",
    "inference_check",
    "econ_slice",
    "econ_fact",
)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    decisions: int
    facts: int


def write(url: str, tenant: UUID, decisions: int, seed: int) -> Written:
    """Write that many decisions of the last 30 days for a tenant. The role of `url` must pass row security by."""
    mix = ", ".join(
        f"({n}, '{p}', '{t}', '{r}', {share}, {first})" for n, (p, t, r, share, first) in enumerate(MIX)
    )
    drawn = _DRAWN.replace("{mix}", mix).replace("{seconds}", str(DAYS * 86_400))
    given = {"tenant": tenant, "decisions": decisions, "detailed": DETAILED, "waiting": WAITING}
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SET LOCAL session_replication_role = replica"
        )  # nothing here refers to what is not here
        cursor.execute("SELECT setseed(%s)", [(seed % 1000) / 1000])
        for statement in (drawn, _DECISIONS, _ATTEMPTS, _SLICES, _FACTS, _STEPS, _CHECKS, _CHAINS, _WAITING):
            cursor.execute(statement, given)  # type: ignore[call-overload]
        cursor.execute("SELECT count(*) FROM econ_fact WHERE tenant_id = %s", [tenant])
        facts = cursor.fetchone()[0]  # type: ignore[index]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ANALYZE {', '.join(TABLES)}")  # type: ignore[arg-type]
    return Written(decisions, facts)
