"""The scripts that this server knows; a request chooses one by its `model`.

    refunds           looks the order up, quotes what can be refunded, asks for the refund, names the receipt
    amount-as-text    the same, but the refund's amount is a string
    straight-refund   asks at once for the refund that the question spells out, whoever's order it is
    orders            looks the order up and says what can be refunded
    paused-orders     the same, but the provider pauses first

Call ids are the same in every conversation, as a model's may be; message ids are not.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from examples.scripted_model.conversation import Conversation
from examples.scripted_model.refusal import Refused
from examples.scripted_model.script import Call, Pause, Say, Script


def _named(pattern: str, said: Conversation) -> str:
    found = re.search(pattern, said.question)
    if found is None:
        raise Refused(f"the script looks for {pattern} in the question")
    return found.group(1)


def _order(said: Conversation) -> Mapping[str, Any]:
    return {"order_id": _named(r"\b(O-\w+)", said)}


def _quote(said: Conversation) -> Mapping[str, Any]:
    seen = said.result("get_order")
    return {"order_id": seen["order_id"], "amount": seen["refundable"], "currency": seen["currency"]}


def _refund(said: Conversation) -> Mapping[str, Any]:
    quote = said.result("prepare_refund")
    return {
        "order_id": quote["order_id"],
        "quote_id": quote["quote_id"],
        "quote_version": quote["version"],
        "amount": quote["amount"],
        "currency": quote["currency"],
    }


def _refund_with_amount_as_text(said: Conversation) -> Mapping[str, Any]:
    arguments = _refund(said)
    return {**arguments, "amount": str(arguments["amount"])}


def _refund_as_spelled_out(said: Conversation) -> Mapping[str, Any]:
    return {
        **_order(said),
        "quote_id": _named(r"quote (\S+),", said),
        "quote_version": 1,
        "amount": int(_named(r"([\d,]+) won", said).replace(",", "")),
        "currency": "KRW",
    }


def _receipt(said: Conversation) -> str:
    made = said.result("refund_payment")
    amount = _spoken(made["amount"], made["currency"])
    return f"Done: {amount} of order {made['order_id']} refunded, receipt {made['refund_id']}."


def _refundable(said: Conversation) -> str:
    order = said.result("get_order")
    return f"{_spoken(order['refundable'], order['currency'])} of order {order['order_id']} can be refunded."


def _spoken(amount: int, currency: str) -> str:
    """Amounts come in the currency's minor unit; won and yen have none."""
    digits = 0 if currency in ("KRW", "JPY") else 2
    return f"{amount / 10**digits:,.{digits}f} {currency}"


_LOOK = Call("call-order-1", "get_order", _order, "I look the order up first.")
_TELL = Say(_refundable)
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
    "orders": (_LOOK, _TELL),
    "paused-orders": (Pause("I read the shop's pages first."), _LOOK, _TELL),
}
