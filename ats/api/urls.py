"""Addresses of recruiting in the API."""

from django.urls import path

from ats.api import views

urlpatterns = [
    path("jobs/", views.Jobs.as_view(), name="api-jobs"),
    path("jobs/<uuid:job_id>/", views.JobDetail.as_view(), name="api-job"),
    path("rubrics/", views.Rubrics.as_view(), name="api-rubrics"),
    path("rubrics/<uuid:rubric_id>/", views.RubricDetail.as_view(), name="api-rubric"),
    path("rubrics/<uuid:rubric_id>/approve/", views.RubricApprove.as_view(), name="api-rubric-approve"),
    path("candidates/", views.Candidates.as_view(), name="api-candidates"),
    path("applications/", views.Applications.as_view(), name="api-applications"),
    path("applications/<uuid:application_id>/", views.ApplicationDetail.as_view(), name="api-application"),
    path("applications/<uuid:application_id>/cv/", views.CVOriginal.as_view(), name="api-cv"),
    path("applications/<uuid:application_id>/text/", views.CVText.as_view(), name="api-text"),
    path("evaluations/", views.Evaluations.as_view(), name="api-evaluations"),
    path("evaluations/<uuid:evaluation_id>/", views.EvaluationDetail.as_view(), name="api-evaluation"),
    path("runs/", views.Runs.as_view(), name="api-runs"),
    path("runs/<uuid:run_id>/", views.RunDetail.as_view(), name="api-run"),
    path(
        "verdicts/<uuid:verdict_id>/override/", views.VerdictOverride.as_view(), name="api-verdict-override"
    ),
]
