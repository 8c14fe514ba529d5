"""Counting and cutting by the served model's own tokenizer: a `tokenizer.json` file, or plain bytes for the fake engine."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Final, Protocol

from tokenizers import Tokenizer as RustTokenizer

from inference.errors import BadWire

BYTES: Final = "bytes"
CONTROL: Final = {
    "<|pad|>": 0,
    "<|im_start|>": 1,
    "<|im_end|>": 2,
}  # the byte tokenizer's three control tokens
_CONTROL_NAMES: Final = {number: name for name, number in CONTROL.items()}
_CONTROL_CUT: Final = re.compile("(" + "|".join(re.escape(name) for name in CONTROL) + ")")


class Tokenizer(Protocol):
    """Text to ids and back. `data=True` is for text that others wrote: a control token in it stays literal text."""

    @property
    def vocab_size(self) -> int: ...

    def encode(self, text: str, *, data: bool) -> list[int]: ...

    def control(self, token: str) -> int:
        """The id of a control token. Raises `BadWire` when the model does not have it."""
        ...

    def decode(self, ids: list[int] | tuple[int, ...], *, control: bool = False) -> str:
        """The text of `ids`; control tokens are shown only when asked for."""
        ...


class ByteTokenizer:
    """One id per UTF-8 byte (byte + 3), and three control tokens."""

    vocab_size: Final = 259

    def encode(self, text: str, *, data: bool) -> list[int]:
        if data:
            return [byte + 3 for byte in text.encode()]
        ids: list[int] = []
        for part in _CONTROL_CUT.split(text):
            ids.extend([CONTROL[part]] if part in CONTROL else [byte + 3 for byte in part.encode()])
        return ids

    def control(self, token: str) -> int:
        if token not in CONTROL:
            raise BadWire(f"the tokenizer has no control token {token!r}")
        return CONTROL[token]

    def decode(self, ids: list[int] | tuple[int, ...], *, control: bool = False) -> str:
        raw = bytearray()
        for number in ids:
            if number >= 3:
                raw.append(number - 3)
            elif control:
                raw.extend(_CONTROL_NAMES[number].encode())
        return raw.decode(errors="replace")


class FileTokenizer:
    """A `tokenizer.json` read by the Rust tokenizers: one reading for our own text, one for data."""

    def __init__(self, path: Path) -> None:
        self._ours = RustTokenizer.from_file(str(path))
        self._data = RustTokenizer.from_file(str(path))
        for reading in (self._ours, self._data):
            reading.no_truncation()
            reading.no_padding()
        self._data.encode_special_tokens = True
        self.vocab_size: int = self._ours.get_vocab_size(with_added_tokens=True)

    def encode(self, text: str, *, data: bool) -> list[int]:
        return list((self._data if data else self._ours).encode(text, add_special_tokens=False).ids)

    def control(self, token: str) -> int:
        number: int | None = self._ours.token_to_id(token)
        if number is None:
            raise BadWire(f"the tokenizer has no control token {token!r}")
        return number

    def decode(self, ids: list[int] | tuple[int, ...], *, control: bool = False) -> str:
        return str(self._ours.decode(list(ids), skip_special_tokens=not control))


@functools.lru_cache(maxsize=4)
def load(path: str) -> Tokenizer:
    """The tokenizer that `EngineState.tokenizer` names: `"bytes"` or the path of a `tokenizer.json`."""
    return ByteTokenizer() if path == BYTES else FileTokenizer(Path(path))
