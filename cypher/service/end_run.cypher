// A run ends. What it left unfinished is closed as interrupted; the thread is free for the next run;
// a completed run gets its checkpoint and becomes the thread's latest stable point.
// $threadId: STRING
// $runId: STRING
// $properties: MAP
// $checkpoints: LIST<MAP>
// Columns: run, checkpoints
MATCH (t:Thread {id: $threadId})
MATCH (r:Run {id: $runId})
SET r += $properties, r.leaseUntil = null, t.activeRunId = null
WITH t, r
CALL (r) {
  MATCH (r)-[:HAS_ITEM]->(i:TurnItem {status: 'streaming'})
  SET i.status = 'interrupted'
}
CALL (r) {
  WITH r WHERE r.startedAt IS NOT NULL
  MATCH (p:ProviderThread {id: r.providerThreadId})
  // The node is locked by a write that reads nothing of it, as in record_command.
  SET p.threadId = r.threadId
  WITH p
  SET p.endedTurns = p.endedTurns + 1
}
CALL (t, r) {
  UNWIND $checkpoints AS properties
  CREATE (c:Checkpoint)
  SET t.checkpointCount = t.checkpointCount + 1
  SET c = properties, c.number = t.checkpointCount
  CREATE (t)-[:HAS_CHECKPOINT]->(c)
  CREATE (c)-[:OF_RUN]->(r)
  SET t.stableRunId = r.id, t.stablePosition = r.position, t.stableCheckpointId = c.id
  RETURN collect(c {.*}) AS checkpoints
}
RETURN r {.*} AS run, checkpoints
