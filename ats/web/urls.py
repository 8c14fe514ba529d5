"""Addresses of the pages of recruiting."""

from django.urls import path

from ats.web import dossier, views

urlpatterns = [
    path("", views.jobs, name="ats-jobs"),
    path("jobs/<uuid:job_id>/", views.job, name="ats-job"),
    path("jobs/<uuid:job_id>/applications/", views.rows, name="ats-job-rows"),
    path("jobs/<uuid:job_id>/upload/", views.upload, name="ats-upload"),
    path("jobs/<uuid:job_id>/evaluate/", views.evaluate, name="ats-evaluate"),
    path("jobs/<uuid:job_id>/rubric/", views.rubrics, name="ats-rubrics"),
    path("rubrics/<uuid:rubric_id>/approve/", views.approve, name="ats-rubric-approve"),
    path("runs/<uuid:run_id>/", views.run, name="ats-run"),
    path("applications/<uuid:application_id>/", dossier.application, name="ats-application"),
    path("applications/<uuid:application_id>/cv/", dossier.original, name="ats-cv"),
    path("verdicts/<uuid:verdict_id>/override/", dossier.override, name="ats-override"),
]
