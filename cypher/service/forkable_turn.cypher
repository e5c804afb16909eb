// Where can this provider fork natively within a history? At the last turn of its own that completed there
// and whose native ids are known. Segments come newest first; `last` counts whole runs only.
// $provider: STRING
// $segments: LIST<MAP>
// Columns: turn
UNWIND $segments AS segment
CALL (segment) {
  MATCH (r:Run {threadId: segment.threadId, provider: $provider})
  WHERE r.position <= segment.last AND r.position > segment.after
    AND r.status = 'completed' AND r.nativeTurnId IS NOT NULL AND r.nativeThreadId IS NOT NULL
  MATCH (p:ProviderThread {id: r.providerThreadId})
  WHERE p.status = 'active'
  RETURN r, p
  ORDER BY r.position DESC
  LIMIT 1
}
RETURN {
  run: r {.*},
  laterTurns: p.turns - r.turnOrdinal,
  laterTerminalTurns: p.endedTurns - r.turnOrdinal
} AS turn
LIMIT 1
