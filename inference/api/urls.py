"""Addresses of decisions in the API."""

from django.urls import path

from inference.api import accounts, batches, catalogue, views

urlpatterns = [
    path("decisions/", views.Decisions.as_view(), name="api-decisions"),
    path("decisions/<uuid:decision_id>/", views.OneDecision.as_view(), name="api-decision"),
    path("decisions/<uuid:decision_id>/trace/", views.Trace.as_view(), name="api-decision-trace"),
    path("decisions/<uuid:decision_id>/events/", views.Events.as_view(), name="api-decision-events"),
    path("decisions/<uuid:decision_id>/cancel/", views.Cancel.as_view(), name="api-decision-cancel"),
    path("decisions/<uuid:decision_id>/override/", views.Override.as_view(), name="api-decision-override"),
    path("files/", batches.Files.as_view(), name="api-files"),
    path("files/<uuid:file_id>/", batches.OneFile.as_view(), name="api-file"),
    path("files/<uuid:file_id>/content/", batches.FileContent.as_view(), name="api-file-content"),
    path("batches/", batches.Batches.as_view(), name="api-batches"),
    path("batches/<uuid:batch_id>/", batches.OneBatch.as_view(), name="api-batch"),
    path("batches/<uuid:batch_id>/items/", batches.Items.as_view(), name="api-batch-items"),
    path("batches/<uuid:batch_id>/results/", batches.Results.as_view(), name="api-batch-results"),
    path("batches/<uuid:batch_id>/events/", batches.Events.as_view(), name="api-batch-events"),
    path("batches/<uuid:batch_id>/pause/", batches.Pause.as_view(), name="api-batch-pause"),
    path("batches/<uuid:batch_id>/resume/", batches.Resume.as_view(), name="api-batch-resume"),
    path("batches/<uuid:batch_id>/cancel/", batches.Cancel.as_view(), name="api-batch-cancel"),
    path("batches/<uuid:batch_id>/retry/", batches.Retry.as_view(), name="api-batch-retry"),
    path("inference/status/", views.Status.as_view(), name="api-inference-status"),
    path("inference/accounts/", accounts.AccountsView.as_view(), name="api-accounts"),
    path("inference/accounts/decisions/", accounts.AccountDecisions.as_view(), name="api-account-decisions"),
    path("inference/prices/", catalogue.Prices.as_view(), name="api-prices"),
    path("inference/prices/<uuid:price_id>/", catalogue.OnePrice.as_view(), name="api-price"),
    path(
        "inference/prices/<uuid:price_id>/verify/", catalogue.PriceVerify.as_view(), name="api-price-verify"
    ),
    path("inference/behaviours/", catalogue.Behaviours.as_view(), name="api-behaviours"),
    path("inference/behaviours/<uuid:behaviour_id>/", catalogue.OneBehaviour.as_view(), name="api-behaviour"),
    path(
        "inference/behaviours/<uuid:behaviour_id>/verify/",
        catalogue.BehaviourVerify.as_view(),
        name="api-behaviour-verify",
    ),
    path("inference/catalogue/templates/", catalogue.Templates.as_view(), name="api-catalogue-templates"),
]
