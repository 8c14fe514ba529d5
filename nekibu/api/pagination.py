"""One page shape: a cursor that survives new rows, with the filters inside its links."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination


class CursorPages(CursorPagination):
    """`{"next", "previous", "results"}`, newest first by time-ordered id, `per_page` up to 200."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "per_page"
    max_page_size = 200
