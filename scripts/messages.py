"""Reads every text for users out of the sources and brings `locale/*/LC_MESSAGES/django.po` up to date (`make messages`).

`--check` writes nothing and fails where the files would change. A message is a literal in a gettext call, in Python or in a
template; the first line of an error's docstring, which is its message; or a member of a `Sentence`. What is gone from the
sources is gone from the files, and a changed text is a new one: nothing is guessed. Files are sorted, without places and
dates, so that they change only where a message does.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("nekibu", "inference", "ats")
# Which of a call's leading arguments are the context and the text or texts.
CALLS = {"gettext": "t", "ngettext": "tp", "pgettext": "ct", "npgettext": "ctp"}
HEADER = """\
# The interface of Nekibu. Terms are those of docs/glossary.md.
msgid ""
msgstr ""
"Project-Id-Version: Nekibu\\n"
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural}\\n"

"""
Message = tuple[str, str | tuple[str, str]]  # context ("" for none), text or texts


def messages() -> set[Message]:
    """Everything that the sources say to users."""
    modules = {path: ast.parse(path.read_text()) for path in sources("*.py")}
    errors = children("NekibuError", modules.values())
    sentences = children("Sentence", modules.values())
    found = {message for tree in modules.values() for message in in_module(tree, errors, sentences)}
    return found | {message for path in sources("*.html") for message in in_template(path)}


def sources(pattern: str) -> list[Path]:
    """Files that git keeps or would keep, so that neither an environment nor a built folder is read."""
    command = [
        "git",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--",
        *PACKAGES,
        "templates",
    ]
    named = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    paths = sorted({ROOT / name for name in named if name})
    return [
        p for p in paths if p.match(pattern) and p.is_file() and not {"vendor", "migrations"} & set(p.parts)
    ]


def children(name: str, modules: object) -> set[str]:
    """Names of all classes that derive from `name`, itself included."""
    bases = {
        node.name: {called(base) for base in node.bases}
        for tree in modules  # type: ignore[attr-defined]
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found, grown = {name}, True
    while grown:
        more = {child for child, parents in bases.items() if parents & found} - found
        found, grown = found | more, bool(more)
    return found


def called(node: ast.expr) -> str:
    """The last name of what is called or derived from."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def in_module(tree: ast.Module, errors: set[str], sentences: set[str]) -> Iterator[Message]:
    """Messages of one module."""
    kinds = {f"{name}{form}": shape for name, shape in CALLS.items() for form in ("", "_lazy", "_noop")}
    names = {**kinds}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
            names |= {
                alias.asname: kinds[alias.name]
                for alias in node.names
                if alias.asname and alias.name in kinds
            }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (shape := names.get(called(node.func))):
            said = [
                a.value
                for a in node.args[: len(shape)]
                if isinstance(a, ast.Constant) and isinstance(a.value, str)
            ]
            if len(said) == len(shape):
                yield message(shape, said)
        elif isinstance(node, ast.ClassDef) and (
            node.name == "NekibuError" or {called(base) for base in node.bases} & errors
        ):
            yield "", (ast.get_docstring(node) or node.name).splitlines()[0]
        elif isinstance(node, ast.ClassDef) and {called(base) for base in node.bases} & sentences:
            for line in node.body:
                if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
                    yield "", str(line.value.value)


def in_template(path: Path) -> Iterator[Message]:
    """Messages of one template: Django turns it into calls, everything else into X."""
    text = re.sub(r"(?m)^\s+", "", templatize(path.read_text(), origin=str(path)))
    keywords = {**dict.fromkeys(("gettext", "_", "ngettext", "pgettext", "npgettext"))}
    for _line, name, said, _comments in extract_python(io.BytesIO(text.encode()), keywords, (), {}):
        shape = CALLS["gettext" if name == "_" else str(name)]
        yield message(shape, [said] if isinstance(said, str) else list(said[: len(shape)]))


def message(shape: str, said: list[str]) -> Message:
    """A call's arguments as one message."""
    context = said[0] if "c" in shape else ""
    texts = said[1:] if "c" in shape else said
    return context, texts[0] if len(texts) == 1 else (texts[0], texts[1])


def brought_up_to_date(path: Path, found: set[Message]) -> bytes:
    """The file with exactly these messages and the translations that it has for them."""
    with path.open("rb") as file:
        held = read_po(file)
    fresh = Catalog(locale=held.locale)
    for context, text in sorted(found, key=lambda m: (m[1] if isinstance(m[1], str) else m[1][0], m[0])):
        known = held.get(text if isinstance(text, str) else text[0], context or None)
        same = known is not None and known.id == text
        fresh.add(text, known.string if known is not None and same else "", context=context or None)
    written = io.BytesIO()
    write_po(written, fresh, width=0, no_location=True, omit_header=True)
    head = HEADER.format(language=path.parts[-3], plural=held.plural_forms)
    return head.encode() + written.getvalue().strip() + b"\n"


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` say which are behind."""
    found, behind = messages(), []
    for path in sorted(ROOT.glob("locale/*/LC_MESSAGES/django.po")):
        fresh = brought_up_to_date(path, found)
        if fresh != path.read_bytes():
            behind.append(str(path.relative_to(ROOT)))
            if "--check" not in arguments:
                path.write_bytes(fresh)
    if "--check" in arguments and behind:
        sys.stderr.write(
            f"Not up to date with the sources: {', '.join(behind)}. Run make messages, and translate what is new.\n"
        )
        return 1
    sys.stdout.write(f"{len(found)} messages\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
