"""Deterministic answers that cite what they read, and a real prefix tree per namespace."""

from __future__ import annotations

import codecs
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from inference.tokens import CONTROL, ByteTokenizer
from nekibu.language.terms import contains_term

ENGINE, NAME, REVISION, FINGERPRINT = "fake", "nekibu-fake", "fake@1", "fake"
CONTEXT, VOCABULARY, SLOTS, POOL = 131_072, ByteTokenizer.vocab_size, 16, 2_000_000
Script = Callable[[str, dict[str, Any] | None], str | None]
_PIECE = re.compile(r"^\[(E\d+)\] (.*)$", re.MULTILINE)
_TERMS = re.compile(r"^Terms: (.*?)(?:<\|im_end\|>|$)", re.MULTILINE)


@dataclass(slots=True)
class PrefixTree:
    """Token ids that were computed before, as SGLang's radix tree keeps them: reuse ends one token before the end."""

    _root: dict[int, Any] = field(default_factory=dict)

    def match(self, ids: Sequence[int]) -> int:
        """How many leading tokens are known, at most all but the last."""
        node, known = self._root, 0
        for token in ids[: len(ids) - 1]:
            if token not in node:
                break
            node, known = node[token], known + 1
        return known

    def insert(self, ids: Sequence[int]) -> None:
        """Remember these tokens."""
        node = self._root
        for token in ids:
            node = node.setdefault(token, {})


@dataclass(frozen=True, slots=True)
class Answer:
    """One finished generation: the ids of its bytes, and the end token when it was not cut off."""

    ids: tuple[int, ...]
    cached: int
    prompt: int
    finish: Literal["stop", "length"]

    @property
    def text(self) -> str:
        """The whole text; a character that was cut off is left out."""
        return "".join(text for text, _ids in self.chunks())

    def chunks(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The answer as it streams: at most eight tokens at a time, and no half characters."""
        decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        for start in range(0, len(self.ids), 8):
            ids = self.ids[start : start + 8]
            yield decoder.decode(bytes(number - 3 for number in ids if number >= 3)), ids


class FakeEngine:
    """Answers a prompt by rule. `script(prompt, schema)` may give another answer; None falls back to the rule.

    `leaky` shares computed tokens between namespaces and `forgetful` computes all of them again: two engines that no
    gateway may serve with.
    """

    def __init__(self, script: Script | None = None, *, leaky: bool = False, forgetful: bool = False) -> None:
        self.script, self.leaky, self.forgetful = script, leaky, forgetful
        self.calls: list[str] = []
        self._trees: dict[str, PrefixTree] = {}
        self._lock = threading.Lock()
        self._tokenizer = ByteTokenizer()

    def generate(
        self, ids: Sequence[int], salt: str, max_out: int, schema_text: str | None, *, remember: bool = True
    ) -> Answer:
        """One answer, with the cache figures of its namespace. Without `remember` the prompt is not yet computed."""
        prompt = self._tokenizer.decode(list(ids), control=True)
        schema = json.loads(schema_text) if schema_text else None
        with self._lock:
            cached = 0 if self.forgetful else self._tree(salt).match(ids)
            self.calls.append(prompt)
        if remember:
            self.remember(ids, salt)
        text = (self.script(prompt, schema) if self.script else None) or answer(prompt, schema)
        said = [*self._tokenizer.encode(text, data=True), CONTROL["<|im_end|>"]]
        return Answer(tuple(said[:max_out]), cached, len(ids), "stop" if len(said) <= max_out else "length")

    def remember(self, ids: Sequence[int], salt: str) -> None:
        """The prompt is computed now: its first token is there."""
        with self._lock:
            self._tree(salt).insert(ids)

    def _tree(self, salt: str) -> PrefixTree:
        return self._trees.setdefault("" if self.leaky else salt, PrefixTree())


def answer(prompt: str, schema: dict[str, Any] | None) -> str:
    """What the prompt's own words allow: the pieces that name one of its terms, else that nothing is stated."""
    properties = (schema or {}).get("properties", {})
    if "verdict" not in properties:
        return json.dumps(_smallest(schema)) if schema else "ok"
    listed = _TERMS.findall(prompt)
    terms = [term.strip() for term in listed[-1].split(";") if term.strip()] if listed else []
    cited = [piece for piece, text in _PIECE.findall(prompt) if terms and contains_term(text, terms)][:3]
    said = "met" if cited else "not_stated"
    value = {
        "pieces": cited,
        "counter_pieces": [],
        "reasoning": "The cited pieces name it." if cited else "No piece names it.",
        "verdict": said,
    }
    return json.dumps({name: value[name] for name in properties if name in value}, ensure_ascii=False)


def _smallest(schema: dict[str, Any]) -> Any:
    """The smallest value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: _smallest(schema["properties"][name]) for name in schema.get("required", [])}
    if kind == "array":
        return [_smallest(schema["items"]) for _ in range(schema.get("minItems", 0))]
    return {
        "string": "x" * schema.get("minLength", 0),
        "integer": schema.get("minimum", 0),
        "number": schema.get("minimum", 0),
        "boolean": False,
    }.get(str(kind))
