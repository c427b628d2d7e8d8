"""The gate's table: what is different from all being well, and whether the handler may then run."""

from workflows.domain.gate import Standing

ALL_WELL = Standing(
    allowed=True,
    schema_valid=True,
    business_valid=True,
    authorized=True,
    approval_required=True,
    approval_granted=True,
)

ROWS: list[tuple[str, dict[str, bool], bool]] = [
    ("normal-allowed", {}, True),
    ("approval-not-required", {"approval_required": False, "approval_granted": False}, True),
    ("required-but-missing", {"approval_granted": False}, False),
    ("tool-not-allowed", {"allowed": False}, False),
    ("schema-invalid", {"schema_valid": False}, False),
    ("business-invalid", {"business_valid": False}, False),
    ("unauthorized", {"authorized": False}, False),
    ("not-allowed-even-approved", {"allowed": False, "approval_granted": True}, False),
    ("schema-invalid-even-approved", {"schema_valid": False, "approval_granted": True}, False),
    ("business-invalid-even-approved", {"business_valid": False, "approval_granted": True}, False),
    ("unauthorized-even-approved", {"authorized": False, "approval_granted": True}, False),
    ("allow-and-schema-fail", {"allowed": False, "schema_valid": False}, False),
    ("allow-and-business-fail", {"allowed": False, "business_valid": False}, False),
    ("allow-and-auth-fail", {"allowed": False, "authorized": False}, False),
    ("schema-and-business-fail", {"schema_valid": False, "business_valid": False}, False),
    ("schema-and-auth-fail", {"schema_valid": False, "authorized": False}, False),
    ("business-and-auth-fail", {"business_valid": False, "authorized": False}, False),
    ("three-policy-gates-fail", {"allowed": False, "schema_valid": False, "business_valid": False}, False),
    ("three-data-gates-fail", {"schema_valid": False, "business_valid": False, "authorized": False}, False),
    (
        "all-required-gates-fail",
        {"allowed": False, "schema_valid": False, "business_valid": False, "authorized": False},
        False,
    ),
    (
        "approval-cannot-bypass-allowlist",
        {"allowed": False, "approval_required": True, "approval_granted": True},
        False,
    ),
    (
        "approval-cannot-bypass-schema",
        {"schema_valid": False, "approval_required": True, "approval_granted": True},
        False,
    ),
    ("approval-cannot-bypass-auth", {"authorized": False, "approval_required": True, "approval_granted": True}, False),
]
