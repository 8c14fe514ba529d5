"""Every relative link in the project's Markdown leads to a file, and every `#anchor` to a heading of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)[^)]*\)|!\[[^\]]*\]\(([^)\s]+)[^)]*\)")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)


def anchor(heading: str) -> str:
    """The address that code hosts give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for match in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        target = match.group(1) or match.group(2)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        anchors = (
            {anchor(h) for h in HEADING.findall(there.read_text("utf-8"))}
            if there.suffix == ".md" and there.exists()
            else None
        )
        if not there.exists() or (fragment and anchors is not None and fragment not in anchors):
            found.append(f"{page.relative_to(ROOT)}: {target}")
    return found


def main() -> int:
    """0 when every link leads somewhere."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    lost = [line for name in listed.split() if (ROOT / name).exists() for line in broken(ROOT / name)]
    for line in lost:
        sys.stderr.write(f"Broken link in {line}\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
