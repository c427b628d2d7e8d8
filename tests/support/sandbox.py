"""The sandbox of workflows where tests run."""

from dataclasses import replace

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from worker.sandbox import sandbox

OF_TESTS = ("_pytest", "beartype", "pygments", "pytest")
"""What takes part in every import where tests run; to import it anew for each workflow takes longer than the tests."""


def sandbox_of_tests() -> SandboxedWorkflowRunner:
    """A worker's sandbox, with that let through."""
    ours = sandbox()
    return replace(ours, restrictions=ours.restrictions.with_passthrough_modules(*OF_TESTS))
