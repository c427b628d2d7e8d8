"""Who may come in, and what the audit log is told of who may not.

It is told under the name that the issuer's verified answer has, and by a code. Of an answer that proves nothing nobody
knows whose log it would belong to, and none is told.
"""

from collections.abc import Mapping
from typing import Any, Final

import structlog

from adapters.http.back_office.audit_ports import AuditLog
from adapters.http.back_office.languages import N_
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.session import Session
from adapters.http.identity import Unauthenticated, principal_from
from adapters.http.people import is_for
from workflows.domain.principal import Principal

log = structlog.get_logger(__name__)

ACTING_AGENT: Final = "acting_agent"
"""Software acts in the credential."""

NO_ROLE: Final = "no_role"
"""The person has none of the roles that the back office is for."""

ANOTHER_PERSON: Final = "another_person"
"""The issuer was asked whether it is still the same person, and it is not."""


class NotAdmitted(PageRefused):
    """Somebody who is known may not come in; `code` says why."""

    def __init__(self, who: Principal, code: str, sentence: str) -> None:
        refusal = PageRefused.no_entry(sentence)
        super().__init__(refusal.status, refusal.heading, refusal.sentence)
        self.who, self.code = who, code


class Doorkeeper:
    """Lets people in, and tells the audit log of those who are sent away."""

    def __init__(self, log: AuditLog) -> None:
        self._log = log

    def admitted(self, claims: Mapping[str, Any]) -> Principal:
        """The person whom verified claims name, if the back office is for them.

        Raises:
            NotAdmitted: an agent acts in the credential, or the person has none of the roles.
            PageRefused: the claims name nobody.
        """
        try:
            who = principal_from(claims)
        except Unauthenticated as error:
            log.warning("sign_in_unfit", reason="claims: sub, tenant, roles, scope, act or name of another shape")
            raise PageRefused.sign_in_unfit() from error
        if who.agent:
            sentence = N_("This credential lets software act for a person. Decisions are made by people alone.")
            raise NotAdmitted(who, ACTING_AGENT, sentence)
        if not is_for(who):
            raise NotAdmitted(who, NO_ROLE, N_("Your account has none of the roles that the back office is for."))
        return who

    async def tell(self, who: Principal, code: str) -> None:
        """Somebody was sent away; raises `StoreUnavailable`."""
        await self._log.tell(who, "session.refused", code=code)

    async def tell_of_claims(self, claims: Mapping[str, Any], code: str) -> None:
        """The same of whom verified claims name, if they name anybody."""
        try:
            who = principal_from(claims)
        except Unauthenticated:
            return
        await self.tell(who, code)

    async def tell_of_another(self, session: Session | None, who: Principal) -> None:
        """Somebody came back from the issuer for this session; told if it is another person's."""
        if session is not None and (session.viewer.tenant, session.viewer.subject) != (who.tenant, who.subject):
            await self.tell(who, ANOTHER_PERSON)
