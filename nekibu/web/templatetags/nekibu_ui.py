"""The small vocabulary of pages: icons, verdicts, panels, dialogs, numbers and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField
from django.template import Context
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nekibu.web.verdicts import Look, look_of

register = template.Library()
ICONS = Path(__file__).parent.parent / "assets" / "icons"


@cache
def _icons() -> frozenset[str]:
    return frozenset(path.stem for path in ICONS.glob("*.svg"))


@register.simple_tag
def icon(name: str, label: str = "", css: str = "") -> SafeString:
    """An icon of the sprite. Decorative without `label`. A name that is not vendored is an error, not a hole."""
    if name not in _icons():
        raise template.TemplateSyntaxError(
            f"no icon {name!r}: add its file to nekibu/web/assets/icons and run `make css`"
        )
    href = f"{static('nekibu/icons.svg')}#{name}"
    if label:
        return format_html(
            '<svg class="icon {}" role="img" aria-label="{}"><use href="{}"></use></svg>', css, label, href
        )
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="{}"></use></svg>', css, href)


@register.filter
def look(name: str) -> Look:
    """`{% with shown=verdict|look %}`: icon, label and meaning of a verdict or a state."""
    return look_of(str(name))


@register.filter
def verdict_label(name: str) -> str:
    """The word for a verdict, for titles and exports."""
    return str(look_of(str(name)).label)


@register.simple_block_tag(takes_context=True)
def panel(
    context: Context,
    content: str,
    title: str = "",
    note: str = "",
    flush: bool = False,
    key: str = "",
    css: str = "",
) -> SafeString:
    """A framed part of a page with a heading; `flush` for tables and lists that reach the edge; `key` is its id."""
    return _wrap(context, "panel", content, title=title, note=note, flush=flush, key=key, css=css)


@register.simple_block_tag(takes_context=True)
def heading(context: Context, content: str, title: str = "", sub: str = "") -> SafeString:
    """The head of a page: its only h1, a line under it, and the buttons between the tags."""
    return _wrap(context, "heading", content, title=title, sub=sub)


@register.simple_block_tag(takes_context=True)
def notice(context: Context, content: str, tone: str = "info", title: str = "") -> SafeString:
    """A message inside the page."""
    return _wrap(context, "notice", content, tone=tone, title=title)


@register.simple_block_tag(takes_context=True)
def dialog(
    context: Context,
    content: str,
    key: str = "",
    title: str = "",
    action: str = "",
    kind: str = "primary",
    submit: str = "",
) -> SafeString:
    """A modal with a form that posts to `action`; open it with `<button data-open="key">`."""
    return _wrap(context, "dialog", content, key=key, title=title, action=action, kind=kind, submit=submit)


def _wrap(context: Context, name: str, content: str, **more: Any) -> SafeString:
    inner = {"inner": content, "csrf_token": context.get("csrf_token"), **more}
    return render_to_string(f"components/{name}.html", inner)


@register.filter
def field_kind(bound: BoundField) -> str:
    """Which control a form field needs: check, choices, select, text, area, file."""
    kind = type(bound.field.widget).__name__
    return {
        "CheckboxInput": "check",
        "RadioSelect": "choices",
        "CheckboxSelectMultiple": "choices",
        "Select": "select",
        "SelectMultiple": "select",
        "NullBooleanSelect": "select",
        "Textarea": "area",
        "FileInput": "file",
        "ClearableFileInput": "file",
    }.get(kind, "text")


@register.simple_tag
def control(bound: BoundField) -> SafeString:
    """The field's widget with our classes, `aria-invalid` and `aria-describedby`."""
    classes = {
        "check": "checkbox checkbox-sm", "select": "select", "area": "textarea", "file": "file-input", "text": "input", "choices": "",
    }  # fmt: skip
    attrs: dict[str, Any] = {}
    if css := classes[field_kind(bound)]:
        attrs["class"] = f"{css} {bound.field.widget.attrs.get('class', '')}".strip()
    described = [f"{bound.auto_id}-help"] if bound.help_text else []
    if bound.errors:
        attrs["aria-invalid"] = "true"
        described.append(f"{bound.auto_id}-error")
    if described:
        attrs["aria-describedby"] = " ".join(described)
    return bound.as_widget(attrs=attrs)


@register.filter
def seconds(value: float | timedelta | None) -> str:
    """A duration people can read: 0,8 ms · 240 ms · 1,4 s · 3 min 20 s; a dash when it was not observed."""
    if value is None:
        return "–"
    amount = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if amount < 0.01:
        return _("%(number)s ms") % {"number": number_format(amount * 1000, 1)}
    if amount < 1:
        return _("%(number)s ms") % {"number": number_format(amount * 1000, 0)}
    if amount < 60:
        return _("%(number)s s") % {"number": number_format(amount, 1)}
    minutes, rest = divmod(round(amount), 60)
    if minutes < 60:
        return _("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": rest}
    hours, minutes = divmod(minutes, 60)
    return _("%(hours)s h %(minutes)s min") % {"hours": number_format(hours, 0), "minutes": minutes}


@register.filter
def count(value: float | None) -> str:
    """A whole number with its thousands grouped; a dash when there is none."""
    return "–" if value is None else number_format(value, 0, use_l10n=True, force_grouping=True)


@register.filter
def money(value: Decimal | None) -> str:
    """An amount with at most six decimals, which is a millionth; a smaller one is said to be smaller. A dash for none."""
    if value is None:
        return "–"
    shown = value.quantize(Decimal("0.000001")).normalize()
    if value and not shown:
        return f"< {number_format(Decimal('0.000001'), 6)}"
    return number_format(shown, max(0, -int(shown.as_tuple().exponent)))


@register.filter
def percent(value: float | None, digits: int = 0) -> str:
    """A share of one as per cent, in the order of the language (%95, 95%)."""
    if value is None:
        return "–"
    return _("%(number)s%%") % {"number": number_format(value * 100, digits)}


@register.simple_tag
def figure(value: float | None, unit: str, currency: str = "") -> str:
    """A figure of a chart in its unit, as its table and its script say it; a dash for what is not known."""
    if value is None:
        return "–"
    if unit == "percent":
        return percent(value, 1)
    if unit == "seconds":
        return seconds(value)
    if unit == "money":
        amount = money(Decimal(f"{value:.3g}"))
        return f"{amount} {currency}" if currency else amount
    return count(value)


@register.filter
def bytes_size(value: int | None) -> str:
    """A file's size."""
    if value is None:
        return "–"
    amount, unit = float(value), "B"
    for bigger in ("kB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, bigger
    return f"{number_format(amount, 0 if unit in {'B', 'kB'} else 1)} {unit}"


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """A time as people say it (“5 min ago”), exact on hover and for machines."""
    if value is None:
        return "–"
    local = timezone.localtime(value)
    exact = date_format(local, "DATETIME_FORMAT")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(timespec="seconds"), exact, _ago(value)
    )


def _ago(value: datetime) -> str:
    passed = (timezone.now() - value).total_seconds()
    if 0 <= passed < 60:
        return _("just now")
    if 60 <= passed < 3600:
        minutes = int(passed // 60)
        return ngettext("%(n)s minute ago", "%(n)s minutes ago", minutes) % {"n": minutes}
    if 3600 <= passed < 86400:
        hours = int(passed // 3600)
        return ngettext("%(n)s hour ago", "%(n)s hours ago", hours) % {"n": hours}
    return date_format(timezone.localtime(value), "SHORT_DATETIME_FORMAT")


@register.filter
def waterfall(phases: Iterable[tuple[str, float | None]]) -> dict[str, Any]:
    """(label, seconds|None) in order → rows with start and width in per cent of the whole, for the waterfall component."""
    rows, at = [], 0.0
    items = list(phases.items() if isinstance(phases, Mapping) else phases)
    total = sum(length or 0.0 for _label, length in items)
    for number, (label, length) in enumerate(items, start=1):
        share = (length or 0.0) / total * 100 if total else 0.0
        rows.append(
            {
                "label": label,
                "seconds": length,
                "x": f"{at:.2f}%",
                "width": f"{max(share, 0.4) if length else 0:.2f}%",
                "tone": (number - 1) % 6 + 1,
            }
        )
        at = min(at + share, 99.6)
    return {"rows": rows, "total": total if any(length is not None for _label, length in items) else None}


@register.filter
def language_name(code: str) -> str:
    """A language in its own words."""
    return {"tr": "Türkçe", "en": "English"}.get(code, str(dict(settings.LANGUAGES).get(code, code)))
