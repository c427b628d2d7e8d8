"""A family of tools: what one module declares and a deployment names in its settings."""

import importlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from workflows.domain.contract import Contract
from workflows.domain.errors import InvalidConfiguration, declare
from workflows.domain.lint import require_fit


class NoSettings(BaseModel):
    """For a family that needs none."""


@dataclass(frozen=True)
class Family:
    """One family.

    `contracts` are known to every process; `connect` makes the tools themselves, in the worker only. `settings` are
    read from the environment with the prefix `ONCEWARD_<NAME>_` and handed to `connect`. `policy` says in Cedar which
    roles have which of its tools, unless a deployment has a policy file of its own.

    `declare` is for a family whose contracts are a deployment's own: from the settings it makes the family as it is
    there. `variables` names further variables for them, whose values `connect` is handed beside the settings.
    """

    name: str
    contracts: tuple[Contract, ...]
    connect: Callable[..., AbstractAsyncContextManager[Sequence[Any]]]
    settings: type[BaseModel] = NoSettings
    policy: str = ""
    declare: "Callable[[Any], Family] | None" = None
    variables: Callable[[Any], Sequence[str]] | None = None


def policy_beside(module_file: str) -> str:
    """The Cedar rules in the file beside a module, `payments.cedar` beside `payments.py`."""
    return Path(module_file).with_suffix(".cedar").read_text("utf-8")


def families(modules: Iterable[str], settings_of: Callable[[Family], BaseModel] | None = None) -> list[Family]:
    """The families that these modules declare as `FAMILY`, each contract fit to be offered.

    Without `settings_of` a family whose contracts are a deployment's own has none.

    Raises:
        InvalidConfiguration: a module cannot be imported, declares no family, or declares a tool that must not start.
    """
    return [_fit(_as_deployed(_family(module), settings_of)) for module in modules]


def _as_deployed(family: Family, settings_of: Callable[[Family], BaseModel] | None) -> Family:
    if family.declare is None or settings_of is None:
        return family
    return family.declare(settings_of(family))


def _family(module: str) -> Family:
    try:
        family = importlib.import_module(module).FAMILY
    except ImportError:
        raise InvalidConfiguration(f"There is no module {module}; ONCEWARD_TOOLS names it.") from None
    except AttributeError:
        raise InvalidConfiguration(f"The module {module} declares no FAMILY.") from None
    if not isinstance(family, Family):
        raise InvalidConfiguration(f"FAMILY of the module {module} is no Family.")
    return family


def _fit(family: Family) -> Family:
    for contract in family.contracts:
        require_fit(contract)
        declare(contract.rules)
    return family
