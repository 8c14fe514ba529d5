"""Requests for a person's word, the words given, and who may give them for whom."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import F, Q

from nekibu.approvals.states import NoticeKind, Status, VerdictKind
from nekibu.tenants.models import TenantModel
from nekibu.users.models import User


class ApprovalRequest(TenantModel):
    """A question to people about exact parameters. A changed parameter voids it.

    `roles` names roles and groups: a person of any of them may decide. `seal` binds all that the decision stands on
    (requester, subject, roles, quorum, parameters, end) to this installation's secret, so that a changed row is noticed.
    """

    kind = models.CharField(max_length=60)
    subject_type = models.CharField(max_length=60)
    subject_id = models.CharField(max_length=64)
    title = models.CharField(max_length=300)
    group_key = models.CharField(max_length=64, blank=True, default="")
    group_title = models.CharField(max_length=300, blank=True, default="")
    url = models.CharField(max_length=300, blank=True, default="")
    reasons = models.JSONField(default=list)
    parameters = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    params_hash = models.CharField(max_length=64)
    seal = models.CharField(max_length=64, blank=True, default="")
    roles = models.JSONField(default=list)
    quorum = models.PositiveSmallIntegerField(default=1)
    four_eyes = models.BooleanField(default=False)
    risk = models.CharField(max_length=2, blank=True, default="")
    requested_by = models.JSONField()
    requester = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    editors = models.JSONField(
        default=list
    )  # ids of the people who changed the parameters before this request
    assignee = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    supersedes = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="superseded_by"
    )
    due_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    remind_at = models.DateTimeField(null=True)
    reminded_at = models.DateTimeField(null=True)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.PENDING)
    decided_at = models.DateTimeField(null=True)
    executed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "approvals_request"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "subject_id"],
                condition=Q(status="pending"),
                name="approvals_one_pending",
            ),
            models.CheckConstraint(condition=Q(quorum__gte=1), name="approvals_quorum_of_one"),
        ]
        indexes = [
            models.Index(fields=["tenant", "status", "group_key"], name="approvals_inbox"),
            models.Index(
                fields=["tenant", "expires_at"], condition=Q(status="pending"), name="approvals_expiring"
            ),
            models.Index(
                fields=["tenant", "remind_at"], condition=Q(status="pending"), name="approvals_reminding"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def step_up(self) -> bool:
        """Whether a person has to give the password once more."""
        return self.risk == "R3"


class Verdict(TenantModel):
    """A person's word: what, why, on which parameters, and in whose name. Never changed."""

    request = models.ForeignKey(ApprovalRequest, on_delete=models.PROTECT, related_name="verdicts")
    seq = models.PositiveSmallIntegerField(default=1)
    verdict = models.CharField(max_length=20, choices=VerdictKind.choices)
    reason_code = models.CharField(max_length=40, blank=True, default="")
    reason = models.TextField()
    value = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    diff = models.JSONField(default=list, encoder=DjangoJSONEncoder)
    params_hash = models.CharField(max_length=64)
    new_params_hash = models.CharField(max_length=64, blank=True, default="")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    on_behalf_of = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    stepped_up = models.BooleanField(default=False)

    class Meta:
        db_table = "approvals_verdict"
        constraints = [models.UniqueConstraint(fields=["request", "seq"], name="approvals_word_seq")]
        ordering = ["seq"]

    def __str__(self) -> str:
        return self.verdict


class Retraction(TenantModel):
    """A word taken back by its speaker while others were still asked. The word itself stays."""

    verdict = models.OneToOneField(Verdict, on_delete=models.PROTECT, related_name="retraction")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")

    class Meta:
        db_table = "approvals_retraction"

    def __str__(self) -> str:
        return f"{self.verdict_id}"


class Nonce(TenantModel):
    """A form that was shown to a person: usable once, for a while, for these parameters. Only its hash is stored."""

    request = models.ForeignKey(ApprovalRequest, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    params_hash = models.CharField(max_length=64)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "approvals_nonce"
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="approvals_one_nonce")]
        indexes = [models.Index(fields=["tenant", "expires_at"], name="approvals_nonce_end")]

    def __str__(self) -> str:
        return self.digest[:8]


class Delegation(TenantModel):
    """A person's right to decide in another one's name, from a day until a day; `request` limits it to one question."""

    principal = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    delegate = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    request = models.ForeignKey(
        ApprovalRequest, null=True, on_delete=models.PROTECT, related_name="delegations"
    )
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    note = models.CharField(max_length=300, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "approvals_delegation"
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="approvals_delegation_time"),
            models.CheckConstraint(condition=~Q(principal=F("delegate")), name="approvals_delegation_two"),
        ]
        indexes = [
            models.Index(fields=["tenant", "delegate", "ends_at"], name="approvals_stand_in"),
            models.Index(fields=["tenant", "principal", "ends_at"], name="approvals_away"),
        ]

    def __str__(self) -> str:
        return f"{self.principal_id} → {self.delegate_id}"


class Group(TenantModel):
    """People who decide together, whatever their roles; a request names the group by its key."""

    key = models.SlugField(max_length=40)
    name = models.CharField(max_length=120)

    class Meta:
        db_table = "approvals_group"
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="approvals_one_group")]

    def __str__(self) -> str:
        return self.name


class GroupMember(TenantModel):
    """A person in a group."""

    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="members")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")

    class Meta:
        db_table = "approvals_groupmember"
        constraints = [models.UniqueConstraint(fields=["group", "person"], name="approvals_member_once")]

    def __str__(self) -> str:
        return f"{self.person_id}"


class Notice(TenantModel):
    """Something that a person is told: a reminder, a word given in their name, a question that expired."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20, choices=NoticeKind.choices)
    request = models.ForeignKey(ApprovalRequest, null=True, on_delete=models.CASCADE, related_name="+")
    facts = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    read_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "approvals_notice"
        indexes = [
            models.Index(
                fields=["tenant", "person"], condition=Q(read_at__isnull=True), name="approvals_unread"
            )
        ]

    def __str__(self) -> str:
        return self.kind


class Stop(TenantModel):
    """The kill switch of a kind of request, or of all: while it is engaged nothing is decided and nothing carried out."""

    kind = models.CharField(max_length=60, blank=True, default="")
    reason = models.CharField(max_length=300)
    engaged_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    released_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "approvals_stop"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind"], condition=Q(released_at__isnull=True), name="approvals_one_stop"
            )
        ]

    def __str__(self) -> str:
        return self.kind or "*"
