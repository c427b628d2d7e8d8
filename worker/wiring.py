"""Everything is put together here, and nowhere else."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx2
from temporalio.client import Client
from temporalio.worker import Worker

from activities.apply import Apply
from activities.read import Read
from activities.reconcile import Reconcile
from activities.settle import Settle
from activities.validate import Validate
from adapters.downstream.payments import Payments
from adapters.postgres.approvals import PostgresApprovals
from adapters.postgres.claims import PostgresClaims
from adapters.postgres.engine import Database
from adapters.postgres.journal import PostgresJournal
from adapters.postgres.operations import PostgresOperations
from adapters.tools.payments import GetOrder, PrepareRefund, RefundPayment
from adapters.tools.toolbox import Toolbox
from worker.settings import WorkerSettings
from workflows.domain.catalog import Catalog
from workflows.domain.policy import Policy
from workflows.execute_operation import ExecuteOperation

STICKY = timedelta(seconds=5)
"""How long a workflow waits for the worker that has it in memory before any other may take it over."""

GRACE = timedelta(seconds=20)
"""How long a worker that is told to end lets its activities finish."""


def toolbox(payments: Any) -> Toolbox:
    """The tools of this deployment."""
    return Toolbox([GetOrder(payments), PrepareRefund(payments), RefundPayment(payments)])


def catalog() -> Catalog:
    """The contracts alone, for processes that may not reach the services behind them."""
    return toolbox(None).catalog


@asynccontextmanager
async def payments(settings: WorkerSettings) -> AsyncIterator[Payments]:
    """A client of the payments provider."""
    async with httpx2.AsyncClient(
        base_url=settings.payments_url,
        headers={"Authorization": f"Bearer {settings.payments_api_key.get_secret_value()}"},
        timeout=settings.payments_timeout_seconds,
    ) as client:
        yield Payments(client)


def worker(client: Client, settings: WorkerSettings, database: Database, tools: Toolbox) -> Worker:
    """The Temporal worker with all steps of an operation."""
    operations, claims = PostgresOperations(database), PostgresClaims(database)
    journal, approvals = PostgresJournal(database), PostgresApprovals(database)
    policy = Policy(settings.policy_version, settings.policy_unasked_up_to)
    return Worker(
        client,
        task_queue=settings.temporal_task_queue,
        workflows=[ExecuteOperation],
        activities=[
            Validate(operations, approvals, tools, policy).validate,
            Apply(operations, claims, journal, tools, new_owner).apply,
            Reconcile(operations, claims, tools).reconcile,
            Settle(operations, claims, tools).settle,
            Read(operations, journal, tools).read,
        ],
        # A fault of the program ends the operation's workflow visibly instead of retrying its task for ever.
        workflow_failure_exception_types=[Exception],
        sticky_queue_schedule_to_start_timeout=STICKY,
        graceful_shutdown_timeout=GRACE,
    )


def new_owner() -> str:
    """A token for one acquisition of a claim; the same worker gets another one each time."""
    return secrets.token_hex(16)
