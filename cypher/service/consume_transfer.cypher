// The run's provider accepted the context: the transfer is consumed, once, and names the run.
// A change of provider within a thread is an edge from the last run before to the first run after.
// $transferId: STRING
// $runId: STRING
// $properties: MAP
// $now: ZONED DATETIME
// Columns: transfer
MATCH (f:ContextTransfer {id: $transferId})
MATCH (r:Run {id: $runId})
SET f += $properties
CREATE (f)-[:CONSUMED_BY]->(r)
WITH f, r
CALL (f, r) {
  WITH f, r WHERE f.type = 'provider_handoff'
  MATCH (last:Run {id: f.sourceRunId})
  CREATE (last)-[:HANDOFF {transferId: f.id, createdAt: $now}]->(r)
}
RETURN f {.*} AS transfer
