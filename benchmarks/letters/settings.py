"""Settings of a tree with one task more."""

from nekibu.settings.base import *  # noqa: F403
from nekibu.settings.base import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.letters"]
