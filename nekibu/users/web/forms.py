"""What people send to sign in."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.utils.translation import gettext_lazy as _


class SignInForm(AuthenticationForm):
    """An address and a password. The answer to a wrong pair does not say which of them was wrong."""

    username = UsernameField(
        label=_("E-mail address"),
        widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": _("The e-mail address and the password do not fit together. Check both."),
    }
