// Where can this provider fork natively within a history? At the last turn of its own that completed there
// and whose native ids are known (one that forks its latest state only needs no turn's). Segments come newest first;
// `last` counts whole runs only. Only the last few runs of each are looked at, however long a thread is.
// $provider: STRING
// $segments: LIST<MAP>
// $byTurn: BOOLEAN
// $within: INTEGER
// Columns: turn
UNWIND $segments AS segment
CALL (segment) {
  MATCH (r:Run)
  USING INDEX r:Run(threadId, provider, position)
  WHERE r.threadId = segment.threadId AND r.provider = $provider
    AND r.position <= segment.last AND r.position > segment.after
  WITH r ORDER BY r.threadId DESC, r.provider DESC, r.position DESC LIMIT $within
  WITH r WHERE coalesce(r.endedAs, r.status) = 'completed' AND r.nativeThreadId IS NOT NULL
    AND (r.nativeTurnId IS NOT NULL OR NOT $byTurn)
  MATCH (p:ProviderThread {id: r.providerThreadId})
  // Past a foreign turn a native fork would hold that turn.
  WHERE p.status IN ['active', 'divergent'] AND r.position < coalesce(p.divergedAt, r.position + 1)
  MATCH (owner:Thread {id: p.threadId})
  OPTIONAL MATCH (pending:Run {id: owner.activeRunId, status: 'starting'})
  RETURN r, p, pending
  LIMIT 1
}
RETURN {
  run: r {.*, plan: null},
  // A turn that may be accepted at any moment counts as taken.
  laterTurns: p.turns - r.turnOrdinal + CASE WHEN pending IS NULL THEN 0 ELSE 1 END,
  laterTerminalTurns: p.endedTurns - r.turnOrdinal
} AS turn
LIMIT 1
