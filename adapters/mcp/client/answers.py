"""What came of a call, read without trust: there are four ends, and a doubt is one of them."""

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from mcp import MCPError

from adapters import strict_json
from adapters.mcp.client.arguments import plain
from adapters.outside_schema.keywords import StrictValidator, TooMuchWork, counted_steps
from adapters.outside_schema.loading import loaded

Json = dict[str, Any]

INVALID_PARAMS: Final = -32602
NEVER_BEGUN: Final = frozenset({-32601, -32020, -32021, -32022})
"""No such method, headers that do not match, a capability that is missing, an unknown revision."""

CONNECTION_ENDED: Final = frozenset({-32000, -32001})
"""What the package says itself of an answer that cannot come any more, or has not come in time."""

LARGEST_RESULT: Final = 8 * 1024 * 1024
"""Bytes of a structured result as we write it down, which may be longer than it was in its message."""

LONGEST_HINT: Final = 300
LONGEST_NAME: Final = 500
CLAIMS_FAILURE: Final = re.compile(r"\s*(error|fail(ed|ure)|exception|traceback|fault)\b", re.IGNORECASE)
"""How text begins by which a tool says that it has failed, whatever its flag says."""


class NotSent(Exception):
    """Nothing of the call has left; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class RefusedBefore(NotSent):
    """It was sent, and the server has refused it before it carried anything out."""


class Uncertain(Exception):
    """It was sent, and what came back says nothing certain; `code` says what is in the way."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Answer:
    """A complete result. `structured` is None when there was none; `text` is what its text blocks say."""

    structured: Any
    text: str
    is_error: bool
    omitted: int

    @property
    def hint(self) -> str:
        """The text as one short line that holds nothing but visible characters."""
        visible = "".join(" " if unicodedata.category(each)[0] in "ZC" else each for each in self.text[:LONGEST_HINT])
        return " ".join(visible.split())

    @property
    def claims_failure(self) -> bool:
        """Whether it says in words that it has failed."""
        return CLAIMS_FAILURE.match(self.text) is not None

    @cached_property
    def contradicts_itself(self) -> bool:
        """Whether its text is another value than its structured part, or speaks of a failure."""
        if self.structured is None:
            return False
        try:
            said = json.loads(self.text)
        except (ValueError, RecursionError):
            return self.claims_failure
        return isinstance(said, dict) and isinstance(self.structured, dict) and said != self.structured

    @property
    def data(self) -> Json:
        """In the shape of the family's result model."""
        return {"structured": plain(self.structured), "text": self.text, "omitted": self.omitted}


def is_name(text: str) -> bool:
    """Whether it can be kept and shown as the name of something over there: short, and nothing that nobody sees."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()


def fate_of(error: MCPError) -> Exception:
    """What a JSON-RPC error proves of a call that was sent."""
    if error.code == INVALID_PARAMS:
        return RefusedBefore("mcp_invalid_params")
    if error.code in NEVER_BEGUN:
        return RefusedBefore("mcp_wire_error")
    return Uncertain("upstream_unavailable" if error.code in CONNECTION_ENDED else "mcp_wire_error")


def answer_in(result: Json, output_schema: Json | None) -> Answer:
    """Read a result.

    Raises:
        Uncertain: it is no complete one, or its structured part is not what the tool declares.
    """
    if result.get("resultType", "complete") != "complete":
        raise Uncertain("mcp_input_required" if result["resultType"] == "input_required" else "mcp_wire_error")
    content, is_error = result.get("content", []), result.get("isError", False)
    structured = result.get("structuredContent")
    if not _is_content(content) or not isinstance(is_error, bool) or (not content and structured is None):
        raise Uncertain("mcp_wire_error")
    texts = [each["text"] for each in content if each.get("type") == "text"]
    answer = Answer(structured, "\n".join(texts), is_error, len(content) - len(texts))
    if not is_error and (not _fits(structured, output_schema) or answer.contradicts_itself):
        raise Uncertain("effect_mismatch")
    return answer


def _is_content(content: Any) -> bool:
    return isinstance(content, list) and all(map(_is_block, content))


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and (block.get("type") != "text" or isinstance(block.get("text"), str))


def _fits(structured: Any, schema: Json | None) -> bool:
    if structured is None:
        return schema is None
    try:
        exact = strict_json.exact(structured, limit=LARGEST_RESULT)
        if schema is None:
            return True
        validator = StrictValidator(loaded(schema, free_form=True))
        with counted_steps():
            return next(validator.iter_errors(exact), None) is None
    except (strict_json.StrictJsonError, TooMuchWork, RecursionError):
        return False
