"""The canonical form is RFC 8785's, with the examples of the RFC itself."""

from typing import Any

import rfc8785

from workflows.domain.intent import canonical_bytes


def test_the_rfcs_own_example_has_the_rfcs_own_form() -> None:
    value: Any = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '\u20ac$\u000f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert (
        rfc8785.dumps(value)
        == (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ).encode()
    )


def test_keys_are_ordered_by_utf_16_units_as_the_rfc_says() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    ordered = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    written = rfc8785.dumps(dict.fromkeys(keys, 0)).decode()
    assert [key for key, _ in sorted(((key, written.index(f"{key}\":" if key != "\r" else "\\r")) for key in keys),
                                     key=lambda found: found[1])] == ordered  # fmt: skip


def test_our_tags_and_the_same_words_as_text_are_two_meanings() -> None:
    big = 2**53 + 1
    assert canonical_bytes(big) != canonical_bytes(str(big))
    assert canonical_bytes([big]) != canonical_bytes([2**53])
