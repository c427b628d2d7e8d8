"""The process behind `python -m worker.mcp`, once standard output is out of everybody's reach."""

import re
import sys
from functools import partial
from pathlib import Path
from typing import BinaryIO, NoReturn

import httpx2
from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

from adapters.addresses import is_of_this_machine, plain
from adapters.mcp.server.stdio import Bridge
from worker import mcp, process, usage
from worker.settings import read
from worker.variables import NAMED_BY_PREFIX
from workflows.domain.errors import InvalidConfiguration

TOKEN = re.compile(r"[!-~]+")
"""What can stand in a header behind `Bearer`; whether it is a good one is the door's to say."""

PATIENCE = 90.0
"""Seconds that a door may be silent; it answers a call long before."""


class McpSettings(BaseSettings):
    """For the process that a host starts: where the door is, and the user's token for it."""

    model_config = NAMED_BY_PREFIX

    door_url: str = Field(description="the door's address, https://host/mcp, or http on this machine only")
    door_token: SecretStr | None = Field(None, description="the user's token for the door, unless it is in a file")
    door_token_file: Path | None = Field(
        None,
        validate_default=True,
        description="a file with the token, read for every message so that it can be renewed; exactly when DOOR_TOKEN "
        "is not given",
    )

    @field_validator("door_url")
    @classmethod
    def _safe_to_send_a_token_to(cls, address: str) -> str:
        if plain(address)["scheme"].lower() != "https" and not is_of_this_machine(address):
            raise ValueError("a token in the clear")
        return address

    @field_validator("door_token_file")
    @classmethod
    def _one_of_both(cls, path: Path | None, read: ValidationInfo) -> Path | None:
        if (path is None) is (read.data.get("door_token") is None):
            raise ValueError("one of both")
        return path

    def token(self) -> str:
        """The token as it is now.

        Raises:
            InvalidConfiguration: the file cannot be read, or there is nothing like a token.
        """
        if self.door_token_file is None:
            return _token(self.door_token.get_secret_value() if self.door_token else "", "ONCEWARD_DOOR_TOKEN")
        try:
            written = self.door_token_file.read_bytes().decode("ascii", "replace")
        except OSError as refusal:
            raise InvalidConfiguration(f"The file that ONCEWARD_DOOR_TOKEN_FILE names: {refusal.strerror}.") from None
        return _token(written, "The file that ONCEWARD_DOOR_TOKEN_FILE names")

    def passes_proxies(self) -> bool:
        """Whether a proxy of the environment may be on the way: it sees what goes to the door in the clear."""
        return plain(self.door_url)["scheme"].lower() == "https"


def _token(written: str, where: str) -> str:
    if TOKEN.fullmatch(written.strip()):
        return written.strip()
    raise InvalidConfiguration(f"{where} holds no token.")


async def serve(channel: BinaryIO) -> None:
    """Carry messages until the host closes its end."""
    settings = read(McpSettings)
    settings.token()
    process.set_up_logs("console")
    async with httpx2.AsyncClient(timeout=PATIENCE, trust_env=settings.passes_proxies()) as web:
        await Bridge(web, settings.door_url, settings.token, channel).carry(sys.stdin.buffer)


def run(channel: BinaryIO) -> NoReturn:
    """Run the process to its end."""
    usage.parser("worker.mcp", mcp.__doc__, McpSettings).parse_args()
    process.run(partial(serve, channel))
