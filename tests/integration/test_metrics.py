"""`/metrics` and `python -m worker verify` beside a stack that works: both tell what has happened there."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace

import httpx2
import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

from adapters.postgres.invariants import NAMES
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from tests.support.responses import call
from worker.dev import environment
from worker.dev.children import TABLE
from worker.dev.layout import ROOT, Layout
from worker.dev.stack import Stack

TOKEN = "a-token-for-scrapers"
PATIENCE_SECONDS = 60

OPENMETRICS: Callable[[str], Iterable[Metric]] = openmetrics_families

Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


def with_token(layout: Layout) -> environment.Environment:
    return {**environment.api(layout), "ONCEWARD_METRICS_TOKEN": TOKEN}


TABLE_WITH_TOKEN = tuple(replace(child, environment=with_token) if child.name == "api" else child for child in TABLE)


@pytest.fixture(scope="module")
async def scraped(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Onceward]:
    """A stack of its own, whose door has a token: the figures are over everything that was ever done there.

    A refund was approved, made and asked for three times; a second one waits for a person and was proposed anew in
    another response; an order was looked up, and arguments that do not fit were refused.
    """
    folder = tmp_path_factory.mktemp("scraped")
    async with (
        Stack(folder, table=TABLE_WITH_TOKEN, restart=False) as stack,
        Onceward.connected(stack) as running,
    ):
        await (await Refund.approved(running)).require_once()
        waiting = await Refund.proposed(running)
        assert (await running.turn(waiting.asked)).operation_id == waiting.operation_id
        assert (await running.turn(call("get_order", {"order_id": "O-17"}))).only["status"] == "succeeded"
        assert (await running.turn(call("get_order", {"order": 17}))).code == "invalid_arguments"
        yield running


async def scrape(url: str, token: str = TOKEN, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=url) as scraper:
        return await scraper.get("/metrics", headers={"Authorization": f"Bearer {token}", **headers})


async def figures(url: str) -> Figures:
    answer = await scrape(url)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.name != "onceward_figures_age_seconds"
    }


def at(found: Figures, name: str, **labels: str) -> float:
    return found[f"onceward_{name}", frozenset(labels.items())]


async def test_a_scraper_is_told_what_has_happened(scraped: Onceward) -> None:
    found = await figures(scraped.stack.links.door)
    assert at(found, "operations", state="succeeded", tool="refund_payment") == 1
    assert at(found, "operations", state="awaiting_approval", tool="refund_payment") == 1
    assert at(found, "handler_calls_total", tool="refund_payment", outcome="applied") == 1
    assert at(found, "handler_calls_total", tool="get_order", outcome="answered") == 1
    assert at(found, "effects_total", tool="refund_payment") == 1
    assert at(found, "refusals_total", layer="schema") == 1
    assert at(found, "duplicate_deliveries_total") == 2
    assert at(found, "reuses_total") == 1
    assert at(found, "approvals_pending") == 1
    assert at(found, "approvals_pending_oldest_seconds") > 0
    assert at(found, "open_operations", state="awaiting_approval") == 1
    assert at(found, "open_operations", state="manual_review") == 0
    assert at(found, "outbox_set_aside") == 0
    assert at(found, "audit_unsealed_oldest_seconds") < PATIENCE_SECONDS


async def test_every_invariant_has_its_gauge_at_zero(scraped: Onceward) -> None:
    found = await figures(scraped.stack.links.door)
    told = {dict(labels)["invariant"]: n for (name, labels), n in found.items() if name.endswith("_violations")}
    assert told == dict.fromkeys(NAMES, 0)


async def test_nothing_about_a_tenant_a_person_or_an_object_is_told(scraped: Onceward) -> None:
    families = list(text_string_to_metric_families((await scrape(scraped.stack.links.door)).text))
    samples = [sample for family in families for sample in family.samples]
    # Not the figures themselves: any digits may stand in those.
    told = [family.documentation for family in families]
    told += [word for sample in samples for word in (sample.name, *sample.labels.values())]
    for word in ("tenant-a", "user-17", "support-agent", "approver-1", "O-17", "op_", "12000", "qt-"):
        assert not [each for each in told if word in each]
    labels = {label for sample in samples for label in sample.labels}
    assert labels == {"state", "tool", "outcome", "layer", "invariant", "figures"}


async def test_a_scraper_that_knows_openmetrics_gets_it(scraped: Onceward) -> None:
    wanted = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    answer = await scrape(scraped.stack.links.door, Accept=wanted)
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert {family.name for family in OPENMETRICS(answer.text)} >= {"onceward_operations", "onceward_effects"}


async def test_another_door_tells_the_same(scraped: Onceward) -> None:
    await scraped.stack.spawn("api", name="api-2")
    try:
        first, second = await figures(scraped.stack.links.door), await figures(scraped.stack.url("api-2"))
        assert first.keys() == second.keys()
        counted = [key for key in first if key[0].endswith("_total") or key[0] == "onceward_operations"]
        assert [second[key] for key in counted] == [first[key] for key in counted]
    finally:
        await scraped.stack.stop("api-2")


@pytest.mark.parametrize("token", ["another-token-than-that", TOKEN[:-1], f"{TOKEN}x"])
async def test_with_another_token_there_is_nothing(scraped: Onceward, token: str) -> None:
    refused = await scrape(scraped.stack.links.door, token)
    assert (refused.status_code, refused.json()["code"]) == (404, "unknown_route")
    async with httpx2.AsyncClient(base_url=scraped.stack.links.door) as anybody:
        for path in ("/metrics", "/no-such-place"):
            assert (await anybody.get(path)).json() == refused.json()


async def test_the_token_of_an_agent_is_not_that_of_a_scraper(scraped: Onceward) -> None:
    assert (await scrape(scraped.stack.links.door, scraped.token())).status_code == 404


async def test_the_api_does_not_describe_what_is_not_for_everybody(scraped: Onceward) -> None:
    assert "/metrics" not in (await scraped.door.get("/openapi.json")).json()["paths"]


async def test_without_the_setting_there_is_nothing_whatever_is_sent(onceward: Onceward) -> None:
    for token in (TOKEN, onceward.token()):
        assert (await scrape(onceward.stack.links.door, token)).status_code == 404


async def test_verify_finds_a_stack_that_works_sound_without_temporal_or_tools(scraped: Onceward) -> None:
    command = [sys.executable, "-m", "worker", "verify"]
    settings = {"ONCEWARD_POSTGRES_DSN": scraped.stack.environment("worker")["ONCEWARD_POSTGRES_DSN"]}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=settings, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )

    ended = await asyncio.to_thread(run)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1] == "verify: sound, 3 operations, 0 in manual review"


async def test_while_the_database_is_away_a_scrape_fails_and_afterwards_it_does_not(scraped: Onceward) -> None:
    """The last test of this page: the figures before it are kept for seconds only."""
    await scraped.stack.spawn("api", name="api-3")
    door = scraped.stack.url("api-3")
    await scraped.stack.stop("postgres")
    away = await scrape(door)
    await scraped.stack.start("postgres")
    assert (away.status_code, away.json()["code"]) == (503, "upstream_unavailable")
    assert at(await figures(door), "effects_total", tool="refund_payment") == 1
