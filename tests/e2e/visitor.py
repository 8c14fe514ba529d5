"""A person in front of a browser: signs in, looks at pages, and notices whatever a page does wrong on the side."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page

WIDE, SMALL, PHONE = (1440, 900), (1024, 768), (390, 844)
LOOKS = [(language, theme) for language in ("tr", "en") for theme in ("nekibu", "nekibu-dark")]
SHOTS = os.environ.get("NEKIBU_SHOTS")  # a directory: every page that is looked at is drawn there
SPILLS = """() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  return [...document.querySelectorAll("main *, header *, footer *")]
    .filter((e) => e.getBoundingClientRect().right > wide + 1)
    .map((e) => `${e.tagName.toLowerCase()}.${e.className} to ${Math.round(e.getBoundingClientRect().right)}`)
    .slice(0, 5).concat([`the page is ${document.documentElement.scrollWidth} wide`]);
}"""


CROWDED = """() => {
  const parts = [...document.querySelectorAll(".shell-bar .nav-wide a, .shell-end > *")].filter((e) => e.offsetParent);
  const boxes = parts.map((e) => e.getBoundingClientRect()).sort((a, b) => a.left - b.left);
  return boxes.some((box, n) => n > 0 && box.left < boxes[n - 1].right - 1) ? ["parts of the header lie on each other"] : [];
}"""


class Visitor:
    """One person's browser. `complaints` collects console errors, broken policies and pages that spill over the edge."""

    def __init__(self, browser: Browser, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")
        self.context: BrowserContext = browser.new_context(
            base_url=self.base_url, viewport=size(WIDE), locale="tr-TR", timezone_id="Europe/Istanbul"
        )
        self.context.set_default_timeout(20_000)
        self.complaints: list[str] = []
        self._bearable: list[str] = []
        # Beside the console's word: a policy that is only reported is not written there.
        self.context.expose_binding(
            "nekibuViolated", lambda source, what: self.complaints.append(f"policy: {what}")
        )
        self.context.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => window.nekibuViolated(`${e.violatedDirective} ${e.blockedURI}`))"
        )
        self.page: Page = self._open()

    def _open(self) -> Page:
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        said = f"{message.text} ({message.location.get('url', '')})"
        if message.type in {"error", "warning"} and not any(
            re.search(known, said) for known in self._bearable
        ):
            self.complaints.append(f"console: {said}")

    @contextmanager
    def bearing(self, pattern: str) -> Iterator[None]:
        """Within it the console may say what the pattern matches, such as the answer to a refused upload."""
        self._bearable.append(pattern)
        try:
            yield
        finally:
            self._bearable.remove(pattern)

    def sign_in(self, email: str, password: str) -> None:
        """Through the form, as a person does."""
        self.page.goto("/accounts/sign-in/")
        self.look("sign-in")
        self.page.fill("input[name=username]", email)
        self.page.fill("input[name=password]", password)
        self.page.click("main form button[type=submit]")
        self.page.wait_for_url(lambda url: "/accounts/" not in url)

    def switch_to(self, language: str) -> None:
        """Through the menu of the header."""
        self.page.click("button[popovertarget=account-panel]")
        with self.page.expect_navigation():
            self.page.click(f"#account-panel button[name=language][value={language}]")

    def look(self, name: str) -> None:
        """See the page as it is now also on smaller screens, and draw it where drawings are wanted."""
        for view in (SMALL, PHONE):
            self.page.set_viewport_size(size(view))
            self._measure(self.page, name)
        self.page.set_viewport_size(size(WIDE))
        if SHOTS:
            self._draw(Path(SHOTS), name)

    def _measure(self, page: Page, name: str) -> None:
        wrong = page.evaluate(SPILLS) + page.evaluate(CROWDED)
        if wrong:
            width = page.evaluate("innerWidth")
            self.complaints.append(f"{name} ({urlsplit(page.url).path}) at {width} px: {'; '.join(wrong)}")

    def _draw(self, folder: Path, name: str) -> None:
        """The address once more in each language and appearance, in a page of its own: what was typed here stays."""
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}.as-it-is.png")
        kept = self.context.cookies()
        page = self._open()
        for language, theme in LOOKS:
            self._prefer(language, theme)
            page.goto(self.page.url)
            for label, view in (("1440", WIDE), ("390", PHONE)):
                page.set_viewport_size(size(view))
                page.wait_for_timeout(600)  # drawn pages of a PDF and fonts; nothing depends on it
                self._measure(page, f"{name}, {language}")
                page.screenshot(path=folder / f"{name}.{language}.{theme}.{label}.png", full_page=True)
        page.close()
        self.context.clear_cookies()
        self.context.add_cookies(kept)

    def _prefer(self, language: str, theme: str) -> None:
        self.context.add_cookies(
            [
                {"name": "nekibu_language", "value": language, "url": self.base_url},
                {"name": "nekibu_theme", "value": theme, "url": self.base_url},
            ]
        )

    def leave(self) -> None:
        """Close the browser's window."""
        try:
            self.context.close()
        except Error as closed:  # the browser went first
            self.complaints.append(f"closing: {closed}")


def size(of: tuple[int, int]) -> dict[str, int]:
    """As Playwright wants it."""
    return {"width": of[0], "height": of[1]}
