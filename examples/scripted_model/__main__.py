"""`python -m examples.scripted_model [--port N]`: serve until Ctrl-C."""

import argparse
import asyncio
from contextlib import suppress

from examples.scripted_model.scripts import SCRIPTS
from examples.scripted_model.server import scripted_model


async def _serve(port: int) -> None:
    async with scripted_model(port=port) as url:
        print(f"Scripted model at {url}; models: {', '.join(SCRIPTS)}. Ctrl-C ends it.", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m examples.scripted_model", description="A model with a script.")
    parser.add_argument("--port", type=int, default=0, help="where to listen (default: a free port)")
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
