"""Addresses of sign-in."""

from django.urls import path

from nekibu.users.web import views

urlpatterns = [
    path("accounts/sign-in/", views.sign_in, name="sign-in"),
    path("accounts/sign-out/", views.sign_out, name="sign-out"),
]
