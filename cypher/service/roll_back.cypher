// A thread goes back to the run at $position (0: to the point it was forked from). Later runs are in its history no
// more; their items stay. Provider threads that saw them are divergent. The latest stable run is looked for anew.
// $threadId: STRING
// $position: INTEGER
// $now: ZONED DATETIME
// Columns: thread, rolledBack, consumed, waiting, leaving
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (r:Run {threadId: t.id})
  WHERE r.position > $position AND r.startedAt IS NOT NULL AND r.status <> 'rolled_back'
  SET r.endedAs = r.status, r.status = 'rolled_back', r.rolledBackAt = $now
  RETURN collect(r) AS runs
}
CALL (t) {
  MATCH (t)-[:BACKED_BY]->(p:ProviderThread)
  // A native fork that took no turn has its tip where it was forked, which may be in another thread.
  WHERE p.tipPosition > $position AND p.status = 'active' AND coalesce(p.tipThreadId, t.id) = t.id
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
  MATCH (source:Run {id: f.sourceRunId})
  WITH f, source ORDER BY f.seq, f.id
  // `gone`: its source was rolled back as well. What made the thread keeps its point whatever becomes of that.
  RETURN collect({
    transfer: f {.*},
    gone: source.status = 'rolled_back' AND source.threadId = f.sourceThreadId
      AND NOT f.type IN ['fork', 'subagent_spawn']
  }) AS consumed
}
CALL (t) {
  MATCH (f:ContextTransfer)
  USING INDEX f:ContextTransfer(targetThreadId, status)
  WHERE f.targetThreadId = t.id AND f.status IN ['pending', 'resolved_native', 'resolved_portable']
  RETURN collect(f {.*}) AS waiting
}
CALL (t) {
  // What waits elsewhere to be brought from here, but for what a run that starts there carries already.
  MATCH (f:ContextTransfer)
  USING INDEX f:ContextTransfer(sourceThreadId, type, status)
  WHERE f.sourceThreadId = t.id AND f.type IN ['merge_back', 'subagent_result']
    AND f.status IN ['pending', 'resolved_native', 'resolved_portable']
    AND f.sourcePointThreadId = t.id AND f.sourcePosition > $position
  MATCH (target:Thread {id: f.targetThreadId})
  // It is locked already, unless it came to wait in this very moment.
  SET target.updatedAt = $now
  WITH f, target
  WHERE NOT EXISTS { MATCH (r:Run {id: target.activeRunId, status: 'starting'}) WHERE f.id IN r.transferIds }
  RETURN collect(f {.*}) AS leaving
}
RETURN t {.*} AS thread, [r IN runs | r.id] AS rolledBack, consumed, waiting, leaving
