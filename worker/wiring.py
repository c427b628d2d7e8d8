"""Everything is put together here, and nowhere else."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Worker, WorkerDeploymentConfig

from activities.apply import Apply
from activities.follow import Follow
from activities.read import Read
from activities.reconcile import Reconcile
from activities.settle import Settle
from activities.validate import Validate
from adapters.authorization.cedar import CedarAuthorizer
from adapters.authorization.policy_file import read_policy
from adapters.postgres.approvals import PostgresApprovals
from adapters.postgres.claims import PostgresClaims
from adapters.postgres.engine import Database
from adapters.postgres.journal import PostgresJournal
from adapters.postgres.operations import PostgresOperations
from adapters.postgres.resolutions import PostgresResolutions
from adapters.postgres.spendings import PostgresSpendings
from adapters.tools.family import Family, families
from adapters.tools.toolbox import Toolbox
from worker.sandbox import sandbox
from worker.settings import ToolNames, WorkerSettings, read_for_tools, read_named
from workflows import contracts
from workflows.domain.catalog import Catalog
from workflows.domain.lint import require_fit
from workflows.domain.policy import Policy
from workflows.execute_operation import ExecuteOperation
from workflows.execute_turn import ExecuteTurn

STICKY = timedelta(seconds=5)
"""How long a workflow waits for the worker that has it in memory before any other may take it over."""

GRACE = timedelta(seconds=20)
"""How long a worker that is told to end lets its activities finish."""


def known_families(names: ToolNames) -> list[Family]:
    """The families that the deployment names, with the contracts that they have there."""
    return families(names.tools, _settings_of)


def _settings_of(family: Family) -> BaseModel:
    return read_for_tools(family.name, family.settings)


def _needs_of(family: Family) -> tuple[Any, ...]:
    """What a family is connected with: its settings, and the values of the variables that these name."""
    settings = _settings_of(family)
    return (settings,) if family.variables is None else (settings, read_named(family.variables(settings)))


def authorizer(names: ToolNames) -> CedarAuthorizer:
    """Who may use which tool: by the deployment's policy file, or by the shipped rules and those of each family."""
    known = known_families(names)
    shipped = [read_policy(), *(family.policy for family in known)]
    policy = read_policy(names.policy_file) if names.policy_file else "\n".join(shipped)
    return CedarAuthorizer(policy, [contract for family in known for contract in family.contracts])


def catalog(tools: ToolNames) -> Catalog:
    """The contracts alone, for processes that may not reach the services behind them."""
    contracts = [contract for family in known_families(tools) for contract in family.contracts]
    return Catalog(contracts, authorizer(tools))


@asynccontextmanager
async def toolbox(names: ToolNames) -> AsyncIterator[Toolbox]:
    """The tools of this deployment, connected to their services."""
    async with AsyncExitStack() as stack:
        tools = [
            tool
            for family in known_families(names)
            for tool in await stack.enter_async_context(family.connect(*_needs_of(family)))
        ]
        for tool in tools:
            require_fit(tool.contract, tool)
        yield Toolbox(tools)


def worker(client: Client, settings: WorkerSettings, database: Database, tools: Toolbox) -> Worker:
    """The Temporal worker with all steps of an operation."""
    operations, claims = PostgresOperations(database), PostgresClaims(database)
    journal, approvals = PostgresJournal(database), PostgresApprovals(database)
    spendings, may = PostgresSpendings(database), authorizer(settings)
    return Worker(
        client,
        task_queue=settings.temporal_task_queue,
        workflows=[ExecuteOperation, ExecuteTurn],
        activities=[
            Validate(operations, approvals, claims, spendings, tools, may, _policy(settings)).validate,
            Apply(operations, claims, journal, tools, new_owner, parallel=settings.parallel).apply,
            Reconcile(operations, claims, PostgresResolutions(database), tools).reconcile,
            Settle(operations, claims, tools).settle,
            Read(operations, journal, tools, may).read,
            Follow(operations).follow,
        ],
        workflow_runner=sandbox(),
        # A fault of the program ends the operation's workflow visibly instead of retrying its task for ever.
        workflow_failure_exception_types=[Exception],
        # Every heartbeat is sent: by default the SDK holds most of them back.
        max_heartbeat_throttle_interval=contracts.HEARTBEAT_EVERY,
        default_heartbeat_throttle_interval=contracts.HEARTBEAT_EVERY,
        sticky_queue_schedule_to_start_timeout=STICKY,
        graceful_shutdown_timeout=GRACE,
        deployment_config=_deployment(settings),
    )


def _deployment(settings: WorkerSettings) -> WorkerDeploymentConfig | None:
    """Which release this worker is, for a deployment that tells Temporal which one gets the work."""
    if not settings.worker_build:
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(settings.worker_deployment, settings.worker_build),
        use_worker_versioning=True,
        # Operations wait for days: pinned to a release, they would keep its workers alive for as long.
        default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE,
    )


def _policy(settings: WorkerSettings) -> Policy:
    return Policy(
        version=settings.policy_version,
        unasked_up_to=settings.policy_unasked_up_to,
        daily_unasked_up_to=settings.policy_daily_unasked_up_to,
        tenant_daily_unasked_up_to=settings.policy_tenant_daily_unasked_up_to,
        two_approvers_above=settings.policy_two_approvers_above,
        unasked_count=settings.policy_unasked_count,
        ask_after_outside_words=settings.policy_ask_after_outside_words,
    )


def new_owner() -> str:
    """A token for one acquisition of a claim; the same worker gets another one each time."""
    return secrets.token_hex(16)
