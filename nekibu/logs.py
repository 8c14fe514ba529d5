"""How every process of ours writes its log: one JSON object a line, with the decision that it is about where there is one."""

from __future__ import annotations

from typing import Any

import structlog

_BEFORE: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


def config(levels: dict[str, str], root: str = "INFO") -> dict[str, Any]:
    """The form that `logging.config.dictConfig` takes; `levels` by logger."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": "structlog.stdlib.ProcessorFormatter",
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
                ],
                "foreign_pre_chain": _BEFORE,
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["console"], "level": root},
        # Uvicorn brings handlers of its own: its lines go the same way as ours.
        "loggers": {
            name: {"level": level, "handlers": [], "propagate": True}
            for name, level in {"uvicorn": "WARNING", **levels}.items()
        },
    }
