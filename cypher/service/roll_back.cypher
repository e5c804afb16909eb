// A thread goes back to the run at $position (0: to the point it was forked from). Later runs are in its history no
// more; their items stay. Provider threads that saw them are divergent. The latest stable run is looked for anew.
// $threadId: STRING
// $position: INTEGER
// $now: ZONED DATETIME
// Columns: thread, rolledBack, transfers
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (r:Run {threadId: t.id})
  WHERE r.position > $position AND r.startedAt IS NOT NULL AND r.status <> 'rolled_back'
  SET r.endedAs = r.status, r.status = 'rolled_back', r.rolledBackAt = $now
  RETURN collect(r) AS runs
}
CALL (t) {
  MATCH (t)-[:BACKED_BY]->(p:ProviderThread)
  WHERE p.tipPosition > $position AND p.status = 'active'
  SET p.status = 'divergent'
}
CALL (t) {
  OPTIONAL MATCH (kept:Run {threadId: t.id, position: $position})
  OPTIONAL MATCH (origin:Run {id: t.originRunId})
  SET t.headRunId = kept.id, t.headPosition = $position, t.provider = kept.provider,
      t.headGeneration = coalesce(kept.generation, origin.generation, 0),
      t.headOrdinal = coalesce(kept.ordinal, 0), t.headTokens = coalesce(kept.tokensBefore + kept.tokens, 0)
}
CALL (t) {
  OPTIONAL CALL (t) {
    MATCH (r:Run {threadId: t.id})
    WHERE r.position <= $position AND r.position > 0
    WITH r ORDER BY r.threadId DESC, r.position DESC
    WHERE r.status = 'completed'
    RETURN r AS stable LIMIT 1
  }
  OPTIONAL MATCH (c:Checkpoint {threadId: t.id, kind: 'automatic', position: stable.position})
  SET t.stableRunId = stable.id, t.stablePosition = stable.position, t.stableCheckpointId = c.id
}
CALL (t, runs) {
  UNWIND runs AS r
  MATCH (r)<-[:CONSUMED_BY]-(f:ContextTransfer)
  RETURN collect(f {.*}) AS consumed
}
CALL (t) {
  MATCH (f:ContextTransfer)
  USING INDEX f:ContextTransfer(targetThreadId, status)
  WHERE f.targetThreadId = t.id AND f.status IN ['pending', 'resolved_native', 'resolved_portable']
  RETURN collect(f {.*}) AS waiting
}
RETURN t {.*} AS thread, [r IN runs | r.id] AS rolledBack, consumed + waiting AS transfers
