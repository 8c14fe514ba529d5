"""Prepares decisions again from what is stored, without asking a model: gives the exact token ids that were sent."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import django

from benchmarks.product import Installation


class NotTheSame(RuntimeError):
    """A prepared prompt differs from the one in its trace, so that nothing may be concluded from it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The token ids of one question in three parts."""

    static: tuple[int, ...]
    document: tuple[int, ...]
    question: tuple[int, ...]
    stop: tuple[int, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """As the product sends it: static, document, question."""
        return (*self.static, *self.document, *self.question)

    @property
    def turned(self) -> tuple[int, ...]:
        """The same tokens with the changing parts first: question, document, static."""
        return (*self.question, *self.document, *self.static)


class _Unrecorded:
    """Stands where the pipeline writes its trace; a replay leaves no rows."""

    def step(self, stage: str, seconds: float | None = None, **payload: Any) -> None:
        return None


def open_product(installed: Installation) -> None:
    """Makes this process one of the installation's. Once in a process, before anything of Django is used."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nekibu.settings.base")
    os.environ["NEKIBU_STATE"] = str(installed.state)
    os.environ["NEKIBU_PORT"] = str(installed.port)
    os.environ["NEKIBU_GATEWAY_PORT"] = str(installed.gateway_port)
    django.setup()


def prompts(
    installed: Installation, traces: Sequence[Mapping[str, Any]], verdicts: Mapping[str, str]
) -> dict[str, Prompt]:
    """The prompt of each traced decision by its id; `verdicts` gives the verdict that a decision was made for.

    Raises NotTheSame when a prompt's hashes or length differ from what its trace recorded.
    """
    from inference import connection, pipeline
    from inference.classify import classify
    from inference.types import TaskRequest
    from nekibu.permissions.actor import Actor
    from nekibu.tenants.scope import tenant_scope

    engine = connection.engine()
    tokenizer = connection.tokenizer(engine)
    tenant = UUID(installed.demo["tenants"][0]["id"])
    actor = Actor.system(tenant, "benchmark")
    found: dict[str, Prompt] = {}
    for trace in traces:
        request = TaskRequest(
            actor=actor,
            task=trace["task"],
            task_version=trace["task_version"],
            subject=(trace["subject"]["type"], trace["subject"]["id"]),
            inputs={"verdict_id": verdicts[trace["decision_id"]]},
            idempotency_key=f"replay:{trace['decision_id']}",
        )
        with tenant_scope(tenant):
            unrecorded: Any = _Unrecorded()
            package = pipeline.prepare(request, classify(request), engine, tokenizer, unrecorded).package
        _compare(trace, package)
        parts: dict[str, list[int]] = {"static": [], "document": [], "question": []}
        for segment in package.segments:
            name = "static" if segment.static else "document" if segment.kind == "evidence" else "question"
            parts[name].extend(segment.token_ids)
        found[trace["decision_id"]] = Prompt(
            tuple(parts["static"]), tuple(parts["document"]), tuple(parts["question"]), package.stop_token_ids
        )
    return found


def _compare(trace: Mapping[str, Any], package: Any) -> None:
    recorded = stage(trace, "assemble")["payload"]
    for name in ("prefix_hash", "share_hash", "total_tokens"):
        if recorded[name] != getattr(package, name):
            raise NotTheSame(
                f"decision {trace['decision_id']}: {name} was {recorded[name]}, is {getattr(package, name)}"
            )


def stage(trace: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The newest step of that stage."""
    return [step for step in trace["steps"] if step["stage"] == name][-1]  # type: ignore[no-any-return]
