"""The figures of one tenant's dashboard, each as one query within a span that is bounded by an index."""

from typing import Final

SPAN: Final = """
SELECT clock_timestamp(),
    date_bin(CAST(:step AS interval), clock_timestamp(), timestamptz 'epoch') - :earlier_bars * CAST(:step AS interval)
"""
"""The moment of it all, and the start of the first bar."""

ENDS: Final = """
SELECT date_bin(CAST(:step AS interval), ended_at, timestamptz 'epoch'),
    CASE WHEN code = :abandoned THEN :given_up ELSE state END AS ended_as, count(*)
FROM operations
WHERE tenant = :tenant AND ended_at >= :begin AND state = ANY(:ends)
GROUP BY 1, 2
"""
"""Operations by the bar in which they ended, and how."""

AGES: Final = """
SELECT width_bucket(
        CAST(extract(epoch FROM clock_timestamp() - updated_at) AS double precision),
        CAST(:bounds AS double precision[])
    ), state, count(*)
FROM operations
WHERE tenant = :tenant AND ended_at IS NULL AND state <> ALL(:ends)
GROUP BY 1, 2
"""
"""Open operations by how long they have been in their state."""

DECISIONS: Final = """
SELECT width_bucket(
        CAST(extract(epoch FROM decisions.at - approvals.asked_at) AS double precision),
        CAST(:bounds AS double precision[])
    ), decisions.choice, count(*)
FROM approvals
JOIN decisions USING (approval_id)
WHERE approvals.tenant = :tenant AND approvals.asked_at >= :begin
GROUP BY 1, 2
"""
"""What people said by how long after the question they said it."""

REFUSALS: Final = """
SELECT layer, code, count(*), sum(count(*)) OVER ()
FROM verdicts
WHERE tenant = :tenant AND at >= :begin AND code IS NOT NULL AND code <> 'approval_required'
GROUP BY layer, code
ORDER BY count(*) DESC, layer, code
LIMIT :most
"""
"""Verdicts that refused, one for each time that the gate looked, each beside the number of all of them."""

CLAIMS: Final = """
WITH ended AS MATERIALIZED (
    SELECT operation_id FROM operations WHERE tenant = :tenant AND ended_at >= :begin
), told AS (
    SELECT operation_id, item, 0 AS effects, CAST(outcome IS NOT DISTINCT FROM 'applied' AS integer) AS applied,
        sends, generation
    FROM ended
    JOIN claims USING (operation_id)
    UNION ALL
    SELECT operation_id, coalesce(detail ->> 'item', ''), 1, 0, 0, 0
    FROM ended
    JOIN events USING (operation_id)
    WHERE what = 'effect.applied'
), claimed AS (
    SELECT greatest(sum(effects), max(applied)) AS effects, max(sends) AS sends, max(generation) AS generation
    FROM told
    GROUP BY operation_id, item
)
SELECT
    least(effects, :most_effects),
    least(greatest(sends - 1, 0), :most_again),
    least(greatest(generation - 1, 0), :most_again),
    count(*)
FROM claimed
GROUP BY 1, 2, 3
"""
"""Claims of ended operations by their effects on record, their sends and their acquisitions beyond the first."""

CORRECTIONS: Final = """
SELECT tool, count(*), sum(count(*)) OVER ()
FROM calls
WHERE tenant = :tenant AND created_at >= :begin AND refusal IS NOT NULL AND refusal ->> 'code' = ANY(:correctable)
GROUP BY tool
ORDER BY count(*) DESC, tool
LIMIT :most
"""
"""Calls that a model was asked to write anew, by the tool that they name, each beside the number of all of them."""
