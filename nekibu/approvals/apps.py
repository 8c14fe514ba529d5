"""The approvals app."""

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Grants its acts to the roles that decide."""

    name = "nekibu.approvals"
    label = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from nekibu.approvals.permissions import ApprovalAction
        from nekibu.permissions.roles import grant

        for role in ("reviewer", "recruiter", "hiring_manager"):
            grant(role, ApprovalAction.READ, ApprovalAction.DECIDE, ApprovalAction.DELEGATE)
        grant("reviewer", ApprovalAction.ASSIGN)
        grant("auditor", ApprovalAction.READ)
