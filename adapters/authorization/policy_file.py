"""The policy as text: read, taken apart into rules, and each rule checked before the process starts."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cedarpy import PolicySet, Schema, validate_policies

from workflows.domain.errors import InvalidConfiguration

HERE = Path(__file__).parent

# A rule ends at the first semicolon outside strings and remarks.
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|;', re.DOTALL)
BLANK = re.compile(r"(?:\s|//[^\n]*)*")

# Cedar calls rules policy0, policy1 …; each is checked alone, so the number says nothing.
NUMBER = re.compile(r"^(?:policy parse error: |for policy `\w+`[,:] )", re.IGNORECASE)

# Cedar's words for a name that the vocabulary does not list.
UNLISTED = re.compile(r'entity `(\w+)::(".*")` is of an enumerated entity type, but .*')


@dataclass(frozen=True)
class Rule:
    """One `permit` or `forbid` with the line that it begins on, counted from 1."""

    line: int
    text: str


def read_policy(path: Path | None = None) -> str:
    """The text of a deployment's policy file, or of the default policy.

    Raises:
        InvalidConfiguration: the file cannot be read.
    """
    try:
        return (path or HERE / "default.cedar").read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InvalidConfiguration("The authorization policy file cannot be read as UTF-8 text.") from None


def vocabulary(tools: Iterable[str]) -> Schema:
    """What a policy for these tools can speak of.

    Raises:
        InvalidConfiguration: there is no tool, or one has a name that Cedar cannot hold.
    """
    names = json.dumps(sorted(tools), ensure_ascii=False)
    try:
        return Schema.from_str(f"{_shipped('vocabulary.cedarschema')}\nentity Tool enum {names};\n")
    except ValueError:
        raise InvalidConfiguration("The authorization policy needs at least one tool, with a printable name.") from None


def parsed(policy: str, schema: Schema) -> PolicySet:
    """The policy together with the floor that always holds.

    Raises:
        InvalidConfiguration: names the line of the first rule that Cedar or the vocabulary refuses.
    """
    found = list(rules(policy))
    if not found:
        raise InvalidConfiguration("The authorization policy holds no rule, so nobody could do anything.")
    for rule in found:
        _check(rule, schema)
    return PolicySet.from_str(policy).with_added_str(_shipped("floor.cedar"))


def rules(policy: str) -> Iterator[Rule]:
    """The rules of a policy, in order; what follows the last semicolon counts as one if it is more than remarks."""
    ends = [token.end() for token in TOKEN.finditer(policy) if token[0] == ";"]
    for start, end in zip([0, *ends], [*ends, len(policy)], strict=True):
        begin = _after_blank(policy, start)
        if begin < end:
            yield Rule(policy.count("\n", 0, begin) + 1, policy[begin:end])


def _after_blank(policy: str, start: int) -> int:
    blank = BLANK.match(policy, start)
    return blank.end() if blank else start


def _check(rule: Rule, schema: Schema) -> None:
    faults = [error.error for error in validate_policies(rule.text, schema).errors]
    if not faults and len(PolicySet.from_str(rule.text)) != 1:
        faults = ["a rule with ?principal or ?resource allows nothing by itself"]
    if faults:
        where = f"the rule that begins on line {rule.line}"
        raise InvalidConfiguration(f"The authorization policy is not valid: {where}: {_told(faults[0])}.")


def _told(fault: str) -> str:
    words = NUMBER.sub("", " ".join(fault.split())).rstrip(".")
    return UNLISTED.sub(r"this deployment has no \1 called \2", words)


def _shipped(name: str) -> str:
    return (HERE / name).read_text("utf-8")
