"""The authorizer that asks a Cedar policy; Cedar is the engine, the policy stands in a file."""

from collections.abc import Callable, Iterable
from functools import lru_cache

import cedarpy
import structlog

from adapters.authorization import questions
from adapters.authorization.policy_file import parsed, vocabulary
from adapters.authorization.questions import Asker, Question, Target, Use, asker_of, target_of, use_of
from workflows.domain.contract import Contract
from workflows.domain.impact import Resource
from workflows.domain.principal import Principal

REMEMBERED = 1024
"""Answers of each kind kept in memory, the least used is dropped.

There is one for each tool and each set of rights that callers bring; of calls, for each kind and owner of objects too.
"""

log = structlog.get_logger(__name__)


class CedarAuthorizer:
    """Fits `workflows.domain.authorization.Authorizer`.

    Everything is parsed and checked once, here; it may be asked from any thread. An answer is remembered under all that
    the policy was told for it, so a remembered answer is the one that the policy would give again. A failure is not.
    """

    def __init__(self, policy: str, contracts: Iterable[Contract]) -> None:
        """Take the policy for these tools.

        Raises:
            InvalidConfiguration: the policy does not parse, or speaks of something that does not exist.
        """
        self._schema = vocabulary(contract.name for contract in contracts)
        self._policies = parsed(policy, self._schema)
        self._offered = lru_cache(REMEMBERED)(self._ask_offer)
        self._permitted = lru_cache(REMEMBERED)(self._ask_call)

    def offers(self, principal: Principal, contract: Contract) -> bool:
        """Whether this principal may be shown the tool, and so call it at all."""
        return _or_no(contract, lambda: self._offered(asker_of(principal), use_of(contract)))

    def permits(self, principal: Principal, contract: Contract, resource: Resource) -> bool:
        """Whether this principal may use the tool on this object; never, when it would not be offered to them."""
        return self.offers(principal, contract) and _or_no(
            contract, lambda: self._permitted(asker_of(principal), use_of(contract), target_of(resource))
        )

    def _ask_offer(self, asker: Asker, use: Use) -> bool:
        return self._ask(questions.offer(asker, use))

    def _ask_call(self, asker: Asker, use: Use, target: Target) -> bool:
        return self._ask(questions.call(asker, use, target))

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
