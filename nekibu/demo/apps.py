"""The demo app: two tenants with a full story each."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "nekibu.demo"
    label = "demo"
