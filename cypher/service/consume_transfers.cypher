// The run's provider accepted the context: the transfers are consumed, once, and name the run.
// A change of provider within a thread is an edge from the last run before to the first run after.
// $transfers: LIST<MAP>
// $runId: STRING
// $now: ZONED DATETIME
// Columns: records
MATCH (r:Run {id: $runId})
UNWIND $transfers AS transfer
MATCH (f:ContextTransfer {id: transfer.id})
SET f += transfer.properties
CREATE (f)-[:CONSUMED_BY]->(r)
WITH f, r
CALL (f, r) {
  WITH f, r WHERE f.type = 'provider_handoff'
  MATCH (last:Run {id: f.sourceRunId})
  CREATE (last)-[:HANDOFF {transferId: f.id, createdAt: $now}]->(r)
}
RETURN collect(f {.*}) AS records
