"""Originals as they came, and the texts that parsers read in them. Both are written once."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from nekibu.tenants.models import TenantModel


class Quality(models.TextChoices):
    """How well a file could be read."""

    OK = "ok", _("Readable")
    LOW = "low", _("Partly readable")
    NEEDS_OCR = "needs_ocr", _("Scan without text")
    HIDDEN_TEXT = "hidden_text", _("Hidden text found")
    UNREADABLE = "unreadable", _("Not readable")


class StoredFile(TenantModel):
    """An original: its name exactly as given, its bytes under their hash."""

    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=120, blank=True, default="")
    storage_key = models.CharField(max_length=200)

    class Meta:
        db_table = "files_stored"
        indexes = [models.Index(fields=["tenant", "sha256"], name="files_hash")]

    def __str__(self) -> str:
        return self.name


class ParsedText(TenantModel):
    """The visible text of an original as one version of one parser read it. Offsets count code points of `text`."""

    file = models.ForeignKey(StoredFile, on_delete=models.PROTECT, related_name="texts")
    parser_id = models.CharField(max_length=60)
    parser_version = models.CharField(max_length=40)
    quality = models.CharField(max_length=20, choices=Quality.choices)
    reason = models.CharField(max_length=60, blank=True, default="")
    media_type = models.CharField(max_length=120, blank=True, default="")
    text = models.TextField(blank=True, default="")
    pages = models.JSONField(default=list)
    pieces = models.JSONField(default=list)
    hidden = models.JSONField(default=list)
    findings = models.JSONField(default=list)

    class Meta:
        db_table = "files_parsed"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "file", "parser_id", "parser_version"], name="files_one_reading"
            )
        ]

    def __str__(self) -> str:
        return f"{self.file_id} {self.quality}"

    @property
    def usable(self) -> bool:
        """Whether there is text that may be evaluated."""
        return self.quality in {Quality.OK, Quality.LOW, Quality.HIDDEN_TEXT} and bool(self.text.strip())
