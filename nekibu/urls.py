"""All addresses: pages first, then the API, then its description."""

from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from nekibu.users.access import public
from nekibu.web.errors import page_of  # noqa: F401  (one error page for all)

urlpatterns = [
    path("", include("nekibu.web.urls")),
    path("", include("nekibu.users.web.urls")),
    path("", include("nekibu.approvals.web.urls")),
    path("", include("inference.web.urls")),
    path("ats/", include("ats.web.urls")),
    path("api/v1/", include("nekibu.approvals.api.urls")),
    path("api/v1/", include("inference.api.urls")),
    path("api/v1/ats/", include("ats.api.urls")),
    path("api/schema/", public(SpectacularAPIView.as_view()), name="schema"),
    path("api/docs/", public(SpectacularSwaggerView.as_view(url_name="schema")), name="docs"),
]
handler400 = "nekibu.web.views.bad_request"
handler403 = "nekibu.web.views.forbidden"
handler404 = "nekibu.web.views.not_found"
handler500 = "nekibu.web.views.server_error"
