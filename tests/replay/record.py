"""`python -m tests.replay.record RELEASE`: store the histories of a release, once, when it is made."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHistory
from temporalio.testing import WorkflowEnvironment

from tests.replay.lives import LIVES, NUDGED, TURNS
from tests.workflows import turns
from tests.workflows.conftest import TEST_SERVER, make_search_attributes
from tests.workflows.running import running
from workflows import contracts

HISTORIES = Path(__file__).parent / "histories"


async def record(release: str) -> None:
    """Live each life once and keep its history."""
    folder = HISTORIES / release
    folder.mkdir(parents=True, exist_ok=False)
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as environment:
        await make_search_attributes(environment)
        for name, life in LIVES.items():
            script = life()
            async with running(environment, script) as handle:
                if name in NUDGED:
                    await script.reached("validate")
                    await handle.signal(contracts.NUDGE)
                await handle.result()
                _store(folder / f"{name}.json", await handle.fetch_history())
        for name, (acting, ref) in TURNS.items():
            async with turns.running(environment, acting(), ref()) as turn:
                await turn.result()
                _store(folder / f"{name}.json", await turn.fetch_history())


def _store(file: Path, history: WorkflowHistory) -> None:
    stored = json.dumps(_impersonal(history.to_json_dict()), indent=1, sort_keys=True)
    file.write_text(stored + "\n", encoding="utf-8")
    print(f"{file}: {len(history.events)} events")


def _impersonal(value: Any) -> Any:
    """Without what names the machine that recorded it."""
    if isinstance(value, dict):
        return {key: _impersonal(item) for key, item in value.items() if key not in ("identity", "stackTrace")}
    if isinstance(value, list):
        return [_impersonal(item) for item in value]
    return value


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1]))
