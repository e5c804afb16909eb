// The last accepted run of a thread at or before a place, and the item with a number in it, if one is asked for.
// $threadId: STRING
// $position: INTEGER
// $item: INTEGER
// Columns: run, itemId
MATCH (r:Run {threadId: $threadId})
WHERE r.position <= $position AND r.startedAt IS NOT NULL
WITH r ORDER BY r.threadId DESC, r.position DESC LIMIT 1
OPTIONAL MATCH (i:TurnItem {runId: r.id, position: $item})
RETURN r {.*, plan: null} AS run, i.id AS itemId
