"""What is another than it was: between what a model gave and what will be sent, and between two revisions.

The marks are words; a colour alone tells nothing to whoever does not see it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from adapters.http.back_office.languages import N_, Language
from adapters.http.back_office.ports import ApprovalSheet
from workflows.domain.approval import Approval
from workflows.domain.impact import Fact, Impact

CHANGED = N_("Changed")
ADDED = N_("Filled in")
LEFT_OUT = N_("Left out")
NEW = N_("New")
GONE = N_("No longer there")


@dataclass(frozen=True)
class Change:
    """One value before and after, None where there is none. `mark` says in a word what became of it, empty: nothing."""

    label: str
    before: Fact | None
    after: Fact | None
    mark: str = ""


def of_arguments(sheet: ApprovalSheet) -> tuple[Change, ...]:
    """What the model gave beside what will be sent, name by name; empty when it gave just that."""
    return tuple(_beside(sheet.given, sheet.arguments, ADDED, LEFT_OUT)) if sheet.given else ()


def since_earlier(sheet: ApprovalSheet, language: Language) -> tuple[Change, ...]:
    """What the server finds now that it did not find when the revision before was asked."""
    if sheet.earlier is None:
        return ()
    before = _facts(sheet.earlier.impact, sheet.earlier.approval, language)
    found = _beside(before, _facts(sheet.impact, sheet.approval, language), NEW, GONE)
    return tuple(change for change in found if change.mark)


def _beside(before: tuple[Fact, ...], after: tuple[Fact, ...], added: str, left_out: str) -> Iterator[Change]:
    old, new = {fact.label: fact for fact in before}, {fact.label: fact for fact in after}
    for label in dict.fromkeys([*new, *old]):
        yield Change(label, old.get(label), new.get(label), _mark(old.get(label), new.get(label), added, left_out))


def _mark(before: Fact | None, after: Fact | None, added: str, left_out: str) -> str:
    if before is None:
        return added
    if after is None:
        return left_out
    return "" if before == after else CHANGED


def _facts(impact: Impact, approval: Approval, language: Language) -> tuple[Fact, ...]:
    """What a revision showed and what it was bound to, each under its label."""
    reversible = N_("Yes") if impact.reversible else N_("No")
    own = (
        Fact(N_("Action"), impact.action),
        Fact(N_("Object"), f"{impact.resource.kind} {impact.resource.id}"),
        Fact(N_("Version of the object"), approval.binding.resource_version),
        Fact(N_("Version of the policy"), approval.binding.policy_version),
        Fact(N_("Amount"), "" if impact.money else language.gettext(N_("No money moves")), impact.money),
        Fact(N_("Objects changed"), str(impact.count)),
        Fact(N_("Can be undone"), language.gettext(reversible)),
    )
    told = tuple(Fact(language.gettext(fact.label), fact.value, fact.money) for fact in own)
    return told + impact.facts
