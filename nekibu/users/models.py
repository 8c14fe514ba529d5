"""People, their membership in tenants, and the tokens by which programs act for them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models

from nekibu.ids import new_id
from nekibu.permissions.roles import ROLES
from nekibu.tenants.models import TenantModel


class UserManager(BaseUserManager["User"]):
    """Finds a person by address, whatever its case."""

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").strip().lower())

    def create_user(self, email: str, name: str, password: str | None = None, **extra: Any) -> User:
        """A new person; the address is kept in lower case (never the Turkish way)."""
        user = self.model(email=email.strip().lower(), name=name, **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser):
    """A person who can sign in. What the person may do stands in the memberships."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]
    objects = UserManager()

    class Meta:
        db_table = "users_user"

    def __str__(self) -> str:
        return self.name


class Membership(TenantModel):
    """A person's role in a tenant. One person may hold several roles."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=30, choices=tuple(ROLES.items()))

    everywhere = models.Manager()

    class Meta:
        db_table = "users_membership"
        default_manager_name = "objects"
        constraints = [models.UniqueConstraint(fields=["tenant", "user", "role"], name="users_one_role")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


class ApiToken(TenantModel):
    """A program's right to act for a person, within scopes. Only the SHA-256 of the token is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64)
    hint = models.CharField(max_length=12)
    scopes = models.JSONField(default=list)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    everywhere = models.Manager()

    class Meta:
        db_table = "users_apitoken"
        default_manager_name = "objects"
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="users_one_token")]
        indexes = [models.Index(fields=["digest"], name="users_token_digest")]

    def __str__(self) -> str:
        return f"{self.name} {self.hint}"
