"""Every text for users has a Turkish translation that keeps its places, and none escapes the list of texts."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter

import pytest

from nekibu.env import PROJECT
from tests.reading import catalogue

PLACE = re.compile(r"%\(\w+\)[sd]|%%|<[^>]+>")
MESSAGES = [message for message in catalogue() if message.id]
# What only people who write or operate programs see: a broken wire, a wrong argument of the engine's own process.
FOR_PROGRAMMERS = {"BadWire", "BadUsage"}
OTHER_PROCESSES = {"engine", "gateway", "fake"}


def pairs(message) -> list[tuple[str, str]]:
    """Text and translation; of a plural, the text for many beside each form."""
    if isinstance(message.id, tuple):
        return [(message.id[1], string) for string in message.string]
    return [(message.id, message.string)]


def test_the_file_holds_exactly_what_the_sources_say():
    done = subprocess.run(
        [sys.executable, "scripts/messages.py", "--check"], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_message_is_translated_and_none_is_a_guess():
    assert len(MESSAGES) > 600
    assert [m.id for m in MESSAGES if not all(string.strip() for _text, string in pairs(m))] == []
    assert [m.id for m in MESSAGES if m.fuzzy] == []


def test_the_plural_is_the_one_that_django_knows_for_turkish():
    assert catalogue().plural_forms == "nplurals=2; plural=(n > 1);"
    assert all(len(m.string) == 2 for m in MESSAGES if isinstance(m.id, tuple))


def test_a_translation_keeps_every_place():
    lost = [
        (text, string)
        for message in MESSAGES
        for text, string in pairs(message)
        if Counter(PLACE.findall(text)) != Counter(PLACE.findall(string))
    ]
    assert lost == []


def test_a_translation_ends_as_its_text_does():
    ends = [
        (text, string)
        for message in MESSAGES
        for text, string in pairs(message)
        if (text.endswith("."), text[:1].isspace(), text[-1:].isspace())
        != (string.endswith("."), string[:1].isspace(), string[-1:].isspace())
    ]
    assert ends == []


def test_no_suffix_is_glued_to_a_place():
    """What stands there decides the vowels of a suffix, so the sentence has to do without one."""
    glued = re.compile(r"%\(\w+\)[sd](?:['’]\w|[a-zçğıöşü])")
    assert [string for m in MESSAGES for _text, string in pairs(m) if glued.search(string)] == []


@pytest.mark.parametrize(
    "wrong", ["[Kk]riter", "[Rr]ubrik", "CV", "[Tt]enant", "[Tt]oken(?!izer)", "[Mm]ülakat", "[Pp]rompt"]
)
def test_one_word_is_used_for_one_thing(wrong):
    """Words that people use beside those of docs/glossary.md."""
    found = re.compile(rf"\b{wrong}")
    said = [PLACE.sub("", string) for m in MESSAGES for _text, string in pairs(m)]
    assert [string for string in said if found.search(string)] == []


def test_no_refusal_is_said_without_being_marked():
    """A literal given to an error, or as the message of one of its fields, goes through gettext."""
    sys.path.insert(0, str(PROJECT / "scripts"))
    try:
        import messages
    finally:
        sys.path.remove(str(PROJECT / "scripts"))
    modules = {path: ast.parse(path.read_text()) for path in messages.sources("*.py")}
    errors = messages.children("NekibuError", modules.values()) - FOR_PROGRAMMERS
    bare = [
        (path.name, ast.unparse(said))
        for path, tree in modules.items()
        if not OTHER_PROCESSES & set(path.parts)
        for node in ast.walk(tree)
        for said in literals(node, errors)
    ]
    assert bare == []


def literals(node: ast.AST, errors: set[str]) -> list[ast.expr]:
    """Texts that stand where a message is expected."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        name = node.exc.func.id if isinstance(node.exc.func, ast.Name) else ""
        given = node.exc.args[:1] if name in errors else []
    elif isinstance(node, ast.Dict):
        named = zip(node.keys, node.values, strict=True)
        given = [v for k, v in named if isinstance(k, ast.Constant) and k.value == "message"]
    else:
        given = []
    return [
        said
        for said in given
        if isinstance(said, ast.JoinedStr) or (isinstance(said, ast.Constant) and isinstance(said.value, str))
    ]
