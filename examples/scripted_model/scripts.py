"""The scripts that this server knows; a request chooses one by its `model`.

    refunds           looks the order up, quotes what can be refunded, asks for the refund, names the receipt
    amount-as-text    the same, but the refund's amount is a string
    straight-refund   asks at once for the refund that the question spells out, whoever's order it is

Call ids are the same in every conversation, as a model's may be; message ids are not.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from examples.scripted_model.script import Call, Say, Script
from examples.scripted_model.transcript import Transcript, TranscriptRefused


def _named(pattern: str, transcript: Transcript) -> str:
    found = re.search(pattern, transcript.question)
    if found is None:
        raise TranscriptRefused(f"the script looks for {pattern} in the question")
    return found.group(1)


def _order(transcript: Transcript) -> Mapping[str, Any]:
    return {"order_id": _named(r"\b(O-\w+)", transcript)}


def _quote(transcript: Transcript) -> Mapping[str, Any]:
    seen = transcript.result("get_order")
    return {"order_id": seen["order_id"], "amount": seen["refundable"], "currency": seen["currency"]}


def _refund(transcript: Transcript) -> Mapping[str, Any]:
    quote = transcript.result("prepare_refund")
    return {
        "order_id": quote["order_id"],
        "quote_id": quote["quote_id"],
        "quote_version": quote["version"],
        "amount": quote["amount"],
        "currency": quote["currency"],
    }


def _refund_with_amount_as_text(transcript: Transcript) -> Mapping[str, Any]:
    arguments = _refund(transcript)
    return {**arguments, "amount": str(arguments["amount"])}


def _refund_as_spelled_out(transcript: Transcript) -> Mapping[str, Any]:
    return {
        **_order(transcript),
        "quote_id": _named(r"quote (\S+),", transcript),
        "quote_version": 1,
        "amount": int(_named(r"([\d,]+) won", transcript).replace(",", "")),
        "currency": "KRW",
    }


def _receipt(transcript: Transcript) -> str:
    made = transcript.result("refund_payment")
    amount = _spoken(made["amount"], made["currency"])
    return f"Done: {amount} of order {made['order_id']} refunded, receipt {made['refund_id']}."


def _spoken(amount: int, currency: str) -> str:
    """Amounts come in the currency's minor unit; won and yen have none."""
    digits = 0 if currency in ("KRW", "JPY") else 2
    return f"{amount / 10**digits:,.{digits}f} {currency}"


_LOOK = Call("call-order-1", "get_order", _order, "I look the order up first.")
_ASK_PRICE = Call("call-quote-2", "prepare_refund", _quote)

SCRIPTS: Final[Mapping[str, Script]] = {
    "refunds": (_LOOK, _ASK_PRICE, Call("call-refund-3", "refund_payment", _refund), Say(_receipt)),
    "amount-as-text": (
        _LOOK,
        _ASK_PRICE,
        Call("call-refund-3", "refund_payment", _refund_with_amount_as_text),
        Say(_receipt),
    ),
    "straight-refund": (Call("call-refund-1", "refund_payment", _refund_as_spelled_out), Say(_receipt)),
}
