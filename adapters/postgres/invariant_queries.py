"""The invariants, each as one query over all tenants.

`EACH_ONE` are groups of rows that must count to one: an operation of the group and the group's number. `NONE` are rows
that must not be: the operation that each belongs to. `NONE_ELSEWHERE` are rows that must not be either and tell of what
others did: who did it, and their own id of it. Every query is one statement, so it speaks of one moment.
"""

from collections.abc import Mapping
from typing import Final

EFFECTS_PER_OPERATION_AND_ITEM: Final = """
SELECT operation_id AS about, max(number) AS number
FROM (
    SELECT operation_id, item, count(*) AS number
    FROM claims
    WHERE outcome = 'applied'
    GROUP BY operation_id, item
    UNION ALL
    SELECT operation_id, coalesce(detail ->> 'item', '') AS item, count(*) AS number
    FROM events
    WHERE what = 'effect.applied'
    GROUP BY operation_id, item
) AS recorded
GROUP BY operation_id, item
"""
"""How often an effect of one operation, or of one item of it, went on record: in the claims, or in the timeline."""

OPERATIONS_PER_RECEIPT: Final = """
WITH receipts AS (
    SELECT operation_id, tool, tenant, claims.reference, EXISTS (
        SELECT FROM resolutions
        WHERE resolutions.operation_id = claims.operation_id AND resolutions.item = claims.item
        AND resolutions.finding = 'happened' AND resolutions.reference = claims.reference
    ) AS named
    FROM claims
    JOIN operations USING (operation_id)
    WHERE claims.outcome = 'applied' AND claims.reference IS NOT NULL
)
SELECT min(about) AS about, max(number) AS number
FROM (
    SELECT tool, reference, min(operation_id) AS about, count(DISTINCT operation_id) AS number
    FROM receipts
    GROUP BY tool, reference, tenant
    UNION ALL
    SELECT tool, reference, min(operation_id) AS about, count(DISTINCT operation_id) AS number
    FROM receipts
    WHERE NOT named
    GROUP BY tool, reference
) AS called
GROUP BY tool, reference
"""
"""How many operations call one receipt of a downstream their own.

Of several tenants only what the downstream itself has shown: any operator can write down what another tenant has.
"""

TERMINAL_RESULTS_PER_OPERATION: Final = """
WITH proposed AS (
    SELECT operation_id, max(event_id) AS since
    FROM events
    WHERE what = :proposed
    GROUP BY operation_id
), results AS (
    SELECT operation_id, count(*) AS number
    FROM events
    JOIN proposed USING (operation_id)
    WHERE what = ANY(:ends) AND event_id > since
    GROUP BY operation_id
)
SELECT operation_id AS about, coalesce(number, 0) AS number
FROM operations
LEFT JOIN results USING (operation_id)
WHERE state = ANY(:ends)
"""
"""How often each ended operation was given a result since it was (last) proposed. A resumed one is proposed anew."""

INTENT_HASHES_PER_KEY: Final = """
SELECT min(claims.operation_id) AS about, count(DISTINCT meant.hash) AS number
FROM claims
JOIN operations USING (operation_id)
LEFT JOIN approvals ON approvals.operation_id = claims.operation_id AND approvals.consumed_generation IS NOT NULL
CROSS JOIN LATERAL (
    VALUES (claims.intent_hash), (operations.intent_hash), (approvals.intent_hash)
) AS meant (hash)
GROUP BY claims.idempotency_key
"""
"""How many meanings stand behind each key that a downstream was given: registered, approved and claimed."""

APPROVALS_CONSUMED_PER_OPERATION: Final = """
SELECT operation_id AS about, count(*) AS number
FROM approvals
WHERE state = 'consumed'
GROUP BY operation_id
"""
"""How many approvals an operation has used up, of those that have used any."""

HANDLER_CALLS_AFTER_REFUSAL: Final = """
WITH refused AS MATERIALIZED (
    SELECT DISTINCT refusing.operation_id, refusing.at
    FROM verdicts AS refusing
    LEFT JOIN verdicts AS people
        ON people.operation_id = refusing.operation_id AND people.at = refusing.at
        AND people.layer = 'approval' AND people.code IS NULL
        AND refusing.code = 'approval_required'
    WHERE refusing.code IS NOT NULL AND people.verdict_id IS NULL
), called AS (
    SELECT handler_calls.entry, handler_calls.operation_id
    FROM refused
    JOIN handler_calls USING (operation_id)
    WHERE refused.at <= handler_calls.began_at
    AND NOT EXISTS (
        SELECT FROM verdicts AS later
        WHERE later.operation_id = refused.operation_id
        AND later.at > refused.at AND later.at <= handler_calls.began_at
    )
    UNION
    SELECT handler_calls.entry, handler_calls.operation_id
    FROM handler_calls
    JOIN events AS ending USING (operation_id)
    WHERE ending.what = ANY(:ends) AND ending.at <= handler_calls.began_at
    AND (handler_calls.generation > 0 OR ending.what <> :succeeded)
    AND NOT EXISTS (
        SELECT FROM events AS proposed
        WHERE proposed.operation_id = ending.operation_id AND proposed.what = :proposed
        AND proposed.event_id > ending.event_id AND proposed.at <= handler_calls.began_at
    )
)
SELECT operation_id AS about
FROM called
JOIN handler_calls USING (entry, operation_id)
WHERE handler_calls.ended_at IS NOT NULL
OR NOT EXISTS (SELECT FROM claims WHERE claims.operation_id = called.operation_id)
OR (SELECT sum(sends) FROM claims WHERE claims.operation_id = called.operation_id) > (
    SELECT count(*) FROM handler_calls AS closed
    WHERE closed.operation_id = called.operation_id AND closed.ended_at IS NOT NULL
)
"""
"""Handlers called although the gate's last judgement before had refused, or the operation had ended.

The verdicts of one judgement are written in one transaction and share its time. That a person must be asked is no
refusal once the same judgement has found that person's word. A read (generation 0) that has succeeded may be read once
more by a late worker: nobody has refused it.

The entry is written before the claim is asked for the last time. One that was never closed is no call if every send
of the operation belongs to another one: its worker had lost the claim by then.
"""

OPEN_APPROVALS_AFTER_THE_END: Final = """
SELECT operation_id AS about
FROM approvals
JOIN operations USING (operation_id)
WHERE approvals.state IN ('pending', 'granted') AND operations.state = ANY(:ends)
"""
"""Questions that people can still answer, and grants that could still be used, of operations that have ended."""

LIVE_CLAIMS_AFTER_THE_END: Final = """
SELECT operation_id AS about
FROM claims
JOIN operations USING (operation_id)
WHERE (claims.outcome IS NULL OR claims.lease_until > clock_timestamp()) AND operations.state = ANY(:ends)
"""
"""Claims under which something could still be sent for an operation that has ended."""

UNCERTAIN_CLAIMS_AFTER_THE_END: Final = """
SELECT operation_id AS about
FROM claims
JOIN operations USING (operation_id)
WHERE claims.uncertain AND claims.code IS DISTINCT FROM :abandoned AND operations.state = ANY(:ends)
"""
"""Sends that may have happened, of operations that have ended, where no operator has given up finding out."""

ENDS_AGAINST_THE_CLAIM: Final = """
SELECT operation_id AS about
FROM operations
WHERE writes AND state = ANY(:ends)
AND (state = :succeeded) <> EXISTS (
    SELECT FROM claims
    WHERE claims.operation_id = operations.operation_id AND claims.outcome = 'applied'
)
"""
"""Writes that are told as done and have no effect on record, or are told as failed and have one."""

ENDS_WITHOUT_GROUND: Final = """
SELECT operation_id AS about
FROM operations
WHERE state = ANY(:ends)
AND NOT EXISTS (SELECT FROM verdicts WHERE verdicts.operation_id = operations.operation_id)
UNION ALL
SELECT operation_id FROM operations WHERE state = ANY(:ends) AND code = 'approval_denied'
AND NOT EXISTS (
    SELECT FROM approvals JOIN decisions USING (approval_id)
    WHERE approvals.operation_id = operations.operation_id AND decisions.choice = 'deny'
)
UNION ALL
SELECT operation_id FROM operations WHERE state = ANY(:ends) AND code = :canceled
AND NOT EXISTS (SELECT FROM cancellations WHERE cancellations.operation_id = operations.operation_id)
UNION ALL
SELECT operation_id FROM operations WHERE state = ANY(:ends) AND code = :abandoned
AND NOT EXISTS (
    SELECT FROM resolutions
    WHERE resolutions.operation_id = operations.operation_id AND resolutions.finding = 'abandoned'
)
"""
"""Ends that no layer of the gate has judged, and those that speak of a person's word that nobody has given."""

APPROVALS_WITHOUT_THEIR_VOTES: Final = """
SELECT operation_id AS about
FROM approvals
WHERE state IN ('granted', 'consumed')
AND quorum > (
    SELECT count(*) FROM decisions
    WHERE decisions.approval_id = approvals.approval_id AND decisions.choice = 'approve'
)
"""
"""Approvals that count although fewer people than they ask for have said yes."""

HALF_ENDED_OPERATIONS: Final = """
SELECT operation_id AS about
FROM operations
WHERE (ended_at IS NOT NULL) <> (state = ANY(:ends))
"""
"""Operations in an end without its time, and such with a time that are open: both would be looked after wrongly."""

EFFECTS_OUT_OF_TURN: Final = """
SELECT DISTINCT later.operation_id AS about
FROM operations AS later
CROSS JOIN LATERAL unnest(later.after) AS named (operation_id)
JOIN operations AS earlier ON earlier.operation_id = named.operation_id AND earlier.writes
WHERE EXISTS (
    SELECT FROM handler_calls AS made
    WHERE made.operation_id = later.operation_id
    AND (earlier.state <> :succeeded OR made.began_at < earlier.ended_at)
    UNION ALL
    SELECT FROM claims AS made
    WHERE made.operation_id = later.operation_id AND made.outcome = 'applied' AND earlier.state <> :succeeded
)
"""
"""Writes that were made, or handed to a tool, before each write that is before them in their turn had succeeded."""

HOSTED_CALLS_NOT_ALLOWED: Final = """
SELECT surface || ' ' || left(regexp_replace(tool || ' ' || item_id, '[^ -~]', '?', 'g'), 200) AS about
FROM hosted_calls
WHERE code IS NOT NULL AND at > clock_timestamp() - interval '7 days'
ORDER BY at DESC
"""
"""What providers have run in seven days without having been allowed to, as those say who hand responses in; names and
ids are theirs, so made fit to print."""

EACH_ONE: Final[Mapping[str, str]] = {
    "effects_per_operation_and_item": EFFECTS_PER_OPERATION_AND_ITEM,
    "operations_per_receipt": OPERATIONS_PER_RECEIPT,
    "terminal_results_per_operation": TERMINAL_RESULTS_PER_OPERATION,
    "intent_hashes_per_key": INTENT_HASHES_PER_KEY,
    "approvals_consumed_per_operation": APPROVALS_CONSUMED_PER_OPERATION,
}

NONE: Final[Mapping[str, str]] = {
    "handler_calls_after_refusal": HANDLER_CALLS_AFTER_REFUSAL,
    "open_approvals_after_the_end": OPEN_APPROVALS_AFTER_THE_END,
    "live_claims_after_the_end": LIVE_CLAIMS_AFTER_THE_END,
    "uncertain_claims_after_the_end": UNCERTAIN_CLAIMS_AFTER_THE_END,
    "ends_against_the_claim": ENDS_AGAINST_THE_CLAIM,
    "ends_without_ground": ENDS_WITHOUT_GROUND,
    "approvals_without_their_votes": APPROVALS_WITHOUT_THEIR_VOTES,
    "half_ended_operations": HALF_ENDED_OPERATIONS,
    "effects_out_of_turn": EFFECTS_OUT_OF_TURN,
}

NONE_ELSEWHERE: Final[Mapping[str, str]] = {
    "hosted_calls_not_allowed": HOSTED_CALLS_NOT_ALLOWED,
}
