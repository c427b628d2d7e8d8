"""The authorizer that asks a Cedar policy; Cedar is the engine, the policy stands in a file."""

from collections.abc import Callable, Iterable
from functools import lru_cache

import cedarpy
import structlog

from adapters.authorization import questions
from adapters.authorization.policy_file import parsed, vocabulary
from adapters.authorization.questions import Asker, Question, Use, asker_of, use_of
from workflows.domain.contract import Contract
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal

REMEMBERED = 1024
"""Offers kept in memory, the least used is dropped; one for each tool and each set of rights that callers bring."""

log = structlog.get_logger(__name__)


class CedarAuthorizer:
    """Fits `workflows.domain.authorization.Authorizer`.

    Everything is parsed and checked once, here; it may be asked from any thread. An offer is remembered under all that
    the policy was told about it, so a remembered answer is the answer that the policy would give again.
    """

    def __init__(self, policy: str, contracts: Iterable[Contract]) -> None:
        """Take the policy for these tools.

        Raises:
            InvalidConfiguration: the policy does not parse, or speaks of something that does not exist.
        """
        self._schema = vocabulary(contract.name for contract in contracts)
        self._policies = parsed(policy, self._schema)
        self._offered = lru_cache(REMEMBERED)(self._ask_offer)

    def offers(self, principal: Principal, contract: Contract) -> bool:
        """Whether this principal may be shown the tool, and so call it at all."""
        return _or_no(contract, lambda: self._offered(asker_of(principal), use_of(contract)))

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        """Whether this principal may use the tool on this object; never, when it would not be offered to them."""
        return self.offers(principal, contract) and _or_no(
            contract, lambda: self._ask(questions.call(asker_of(principal), use_of(contract), resource))
        )

    def _ask_offer(self, asker: Asker, use: Use) -> bool:
        return self._ask(questions.offer(asker, use))

    def _ask(self, question: Question) -> bool:
        answer = cedarpy.is_authorized(question.request, self._policies, question.entities, self._schema)
        if answer.diagnostics.errors:
            # Cedar passes over a rule that fails, even a forbid, and may still say yes.
            raise PolicyFailed
        return answer.allowed


class PolicyFailed(Exception):
    """A rule could not be evaluated, or the question does not fit the vocabulary."""


def _or_no(contract: Contract, ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except Exception as error:
        # Nothing that goes wrong in a foreign engine may become a yes. Its words repeat the question: not logged.
        log.error("authorization_failed", tool=contract.name, error=type(error).__name__)
        return False
