"""What people send from the pages of recruiting."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from ats.states import Verdict


class _ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class _FilesField(forms.FileField):
    """One or many files, always a list. Whether a file is empty or too large is the service's word."""

    widget = _ManyFiles

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        files = list(data) if isinstance(data, (list, tuple)) else [data] if data else []
        if not files:
            raise forms.ValidationError(self.error_messages["required"], code="required")
        return files


class UploadForm(forms.Form):
    """CVs to receive."""

    file = _FilesField(label=_("Files"))


class OverrideForm(forms.Form):
    """A person's verdict in place of the machine's: which one, why, and the passages that show it."""

    verdict = forms.ChoiceField(label=_("Your verdict"), choices=Verdict.choices)
    reason = forms.CharField(label=_("Reason"), max_length=1000, widget=forms.Textarea)
    key = forms.UUIDField()
    pieces = forms.RegexField(
        label=_("Further passages"), regex=r"^[Ee\d,;\s]*$", required=False, max_length=60
    )

    def evidence(self, cited: list[str]) -> list[str]:
        """The chosen passages: ticked ones first, then those given by number; at most four."""
        typed = self.cleaned_data["pieces"].upper().replace(",", " ").replace(";", " ").split()
        named = [*cited, *(piece if piece.startswith("E") else f"E{piece}" for piece in typed)]
        return list(dict.fromkeys(named))[:4]
