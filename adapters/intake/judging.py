"""The layers of the gate that need no look outside, for one proposal: parse, exposure, schema."""

from collections.abc import Container
from dataclasses import replace

from adapters.intake.ports import Judged
from workflows.domain.arguments import validated
from workflows.domain.catalog import Catalog
from workflows.domain.contract import Contract
from workflows.domain.errors import CallRefused
from workflows.domain.gate import Layer, Verdict
from workflows.domain.intent import Intent, digest
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal


def judge(
    proposal: Proposal,
    position: int,
    principal: Principal,
    catalog: Catalog,
    meant: Proposal | None = None,
    found: Container[str] = (),
) -> Judged:
    """Judge one proposal; the first layer that refuses is the last one asked.

    `meant` is the same call in the catalog's own words, where the surface was offered it in others. `found` are the
    tools that searches have brought up in the conversation.
    """
    meant = meant or proposal
    declared = catalog.find(meant.tool_name)
    writes = declared is None or declared.writes
    judged = Judged(proposal, position, fingerprint(proposal), (), writes=writes, tool=meant.tool_name)
    if proposal.fault is not None:
        return _with(judged, Verdict(Layer.PARSE, proposal.fault, proposal.fault_details))
    judged = _with(judged, Verdict(Layer.PARSE))
    try:
        contract = _called(meant, principal, catalog, found)
    except CallRefused as refused:
        return _with(judged, Verdict(Layer.EXPOSURE, refused.code))
    judged = _with(judged, Verdict(Layer.EXPOSURE))
    try:
        intent = _intent(meant, principal, contract)
    except CallRefused as refused:
        return _with(judged, Verdict(Layer.SCHEMA, refused.code, refused.details))
    return replace(_with(judged, Verdict(Layer.SCHEMA)), intent=intent)


def _called(meant: Proposal, principal: Principal, catalog: Catalog, found: Container[str]) -> Contract:
    contract = catalog.require(meant.tool_name, principal)
    if meant.fault is not None:
        # A tool that the surface does not take, and so was never told of.
        raise CallRefused(meant.fault)
    if (contract.hosted is not None) is not meant.hosted:
        # What a provider carries out itself nobody calls here, and the other way round.
        raise CallRefused("unknown_tool")
    if contract.deferred and contract.name not in found:
        # It was never told of, so what the model believes of it is a guess.
        raise CallRefused("tool_not_found_yet")
    return contract


def _with(judged: Judged, verdict: Verdict) -> Judged:
    return replace(judged, verdicts=(*judged.verdicts, verdict))


def _intent(proposal: Proposal, principal: Principal, contract: Contract) -> Intent:
    arguments = validated(contract, proposal.arguments)
    return Intent(
        tenant=principal.tenant,
        subject=principal.subject,
        agent=principal.agent,
        scopes=tuple(sorted(principal.scopes)),
        tool=contract.name,
        tool_version=contract.version,
        contract_hash=contract.hash,
        resource=contract.resource_of(arguments),
        arguments=contract.meant(arguments),
        act=contract.act(arguments),
    )


def fingerprint(proposal: Proposal) -> str:
    """Tells one raw proposal from another, whatever it means."""
    try:
        return digest([proposal.tool_name, proposal.arguments, proposal.fault or ""])
    except (TypeError, ValueError):
        # Refused by its schema anyway; only equality with another delivery is asked of this.
        return digest([proposal.tool_name, repr(proposal.arguments)])
