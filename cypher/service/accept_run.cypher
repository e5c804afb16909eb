// The provider accepted the turn: the run enters history as the thread's head, and its provider thread,
// new or resumed, knows it now.
// $threadId: STRING
// $runId: STRING
// $previousRunId: STRING
// $providerThread: MAP
// $nativeTurnId: STRING
// $leaseMilliseconds: INTEGER
// $forkedFromId: STRING
// $forkedThroughRunId: STRING
// $handoffIds: LIST<STRING>
// $adds: STRING
// $leaves: STRING
// $now: ZONED DATETIME
// Columns: run, providerThread
MATCH (t:Thread {id: $threadId})
MATCH (r:Run {id: $runId})
MERGE (p:ProviderThread {id: $providerThread.id})
  ON CREATE SET p = $providerThread
// The node is locked by a write that reads nothing of it, as in record_command.
SET p.tipRunId = r.id, p.tipPosition = r.position, p.tipThreadId = null
WITH t, r, p
SET p.turns = p.turns + 1
SET r.status = 'running', r.startedAt = $now, r.leaseUntil = datetime() + duration({milliseconds: $leaseMilliseconds}),
    r.providerThreadId = p.id,
    r.nativeThreadId = p.nativeThreadId, r.nativeTurnId = $nativeTurnId, r.turnOrdinal = p.turns,
    r.ordinal = t.acceptedRuns + 1
// After a rollback the history goes on from an earlier run than the one before: the run remembers from which. It also
// remembers what was brought to it from other threads.
FOREACH (_ IN CASE WHEN t.headOrdinal < t.acceptedRuns OR $adds IS NOT NULL OR $leaves IS NOT NULL THEN [1] ELSE [] END |
  SET r.jointPrevious = t.headPosition, r.jointPreviousOrdinal = t.headOrdinal, r.jointPreviousTokens = t.headTokens,
      r.jointAdds = $adds, r.jointLeaves = $leaves
)
SET t.headRunId = r.id, t.headPosition = r.position, t.headGeneration = r.generation, t.headOrdinal = r.ordinal,
    t.headTokens = r.tokensBefore + r.tokens, t.provider = r.provider,
    t.acceptedRuns = r.ordinal, t.acceptedTokens = r.tokensBefore + r.tokens
MERGE (t)-[:BACKED_BY]->(p)
CREATE (p)-[:COVERS {via: 'native', nativeTurnId: $nativeTurnId}]->(r)
WITH r, p
CALL (r) {
  MATCH (previous:Run {id: $previousRunId})
  CREATE (previous)-[:NEXT_RUN]->(r)
}
CALL (p) {
  MATCH (origin:ProviderThread {id: $forkedFromId})
  CREATE (p)-[:FORKED_FROM {throughRunId: $forkedThroughRunId}]->(origin)
}
CALL (p) {
  UNWIND $handoffIds AS handoffId
  MATCH (h:ContextHandoff {id: handoffId})-[:CARRIES]->(carried:Run)
  CREATE (p)-[:COVERS {via: 'handoff', handoffId: h.id}]->(carried)
}
RETURN r {.*} AS run, p {.*} AS providerThread
