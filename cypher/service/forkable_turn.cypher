// Where can this provider fork natively within a history? At the last turn of its own that completed there
// and whose native ids are known. Segments come newest first; `last` counts whole runs only.
// $provider: STRING
// $segments: LIST<MAP>
// Columns: turn
UNWIND $segments AS segment
CALL (segment) {
  MATCH (r:Run)
  USING INDEX r:Run(threadId, provider, position)
  WHERE r.threadId = segment.threadId AND r.provider = $provider
    AND r.position <= segment.last AND r.position > segment.after
    AND r.status = 'completed' AND r.nativeTurnId IS NOT NULL AND r.nativeThreadId IS NOT NULL
  WITH r ORDER BY r.threadId DESC, r.provider DESC, r.position DESC
  MATCH (p:ProviderThread {id: r.providerThreadId})
  WHERE p.status = 'active'
  RETURN r, p
  LIMIT 1
}
RETURN {
  run: r {.*},
  laterTurns: p.turns - r.turnOrdinal,
  laterTerminalTurns: p.endedTurns - r.turnOrdinal
} AS turn
LIMIT 1
