"""Addresses of the pages."""

from django.urls import path

from inference.web import catalogue, views

urlpatterns = [
    path("decisions/", views.decisions, name="decisions"),
    path("decisions/<uuid:decision_id>/", views.trace, name="decision"),
    path("engine/", views.engine, name="engine"),
    path("operations/prices/", catalogue.prices, name="prices"),
    path("operations/prices/new/", catalogue.new_price, name="price-new"),
    path("operations/prices/<uuid:price_id>/", catalogue.price, name="price"),
    path("operations/behaviours/new/", catalogue.new_behaviour, name="behaviour-new"),
    path("operations/behaviours/<uuid:behaviour_id>/", catalogue.behaviour, name="behaviour"),
]
