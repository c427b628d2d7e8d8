"""In what workflows run: a sandbox of their own for each, in which what is not deterministic is refused."""

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

SHARED = (
    "workflows.attributes",
    "workflows.calling",
    "workflows.contracts",
    "workflows.messages",
    "workflows.page",
    "workflows.sentences",
)
"""Definitions without a state, imported once. To make their dataclasses anew for each workflow costs a fifth of what a
worker does."""


def sandbox() -> SandboxedWorkflowRunner:
    """The SDK's, with our own definitions let through; the modules of the workflows themselves are not."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*SHARED))
