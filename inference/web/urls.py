"""Addresses of the pages."""

from django.urls import path

from inference.web import batches, catalogue, views
from inference.web.operations import listing
from inference.web.operations import views as operations

urlpatterns = [
    path("decisions/", views.decisions, name="decisions"),
    path("decisions/<uuid:decision_id>/", views.trace, name="decision"),
    path("engine/", views.engine, name="engine"),
    path("operations/", operations.overview, name="operations"),
    path("operations/live/", operations.live, name="operations-live"),
    path("operations/service/", operations.service, name="operations-service"),
    path("operations/phases/", operations.phases, name="operations-phases"),
    path("operations/cache/", operations.cache, name="operations-cache"),
    path("operations/cost/", operations.cost, name="operations-cost"),
    path("operations/routes/", operations.routes, name="operations-routes"),
    path("operations/decisions/", listing.decisions, name="operations-decisions"),
    path("operations/batches/", batches.batches, name="batches"),
    path("operations/batches/files/<uuid:file_id>/", batches.check, name="batch-check"),
    path("operations/batches/<uuid:batch_id>/", batches.batch, name="batch"),
    path("operations/batches/<uuid:batch_id>/pause/", batches.pause, name="batch-pause"),
    path("operations/batches/<uuid:batch_id>/resume/", batches.resume, name="batch-resume"),
    path("operations/batches/<uuid:batch_id>/cancel/", batches.cancel, name="batch-cancel"),
    path("operations/batches/<uuid:batch_id>/retry/", batches.retry, name="batch-retry"),
    path("operations/batches/<uuid:batch_id>/answers/", batches.answers, name="batch-answers"),
    path("operations/batches/<uuid:batch_id>/failures/", batches.failures, name="batch-failures"),
    path("operations/prices/", catalogue.prices, name="prices"),
    path("operations/prices/new/", catalogue.new_price, name="price-new"),
    path("operations/prices/<uuid:price_id>/", catalogue.price, name="price"),
    path("operations/behaviours/new/", catalogue.new_behaviour, name="behaviour-new"),
    path("operations/behaviours/<uuid:behaviour_id>/", catalogue.behaviour, name="behaviour"),
]
