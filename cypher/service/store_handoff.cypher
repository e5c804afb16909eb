// A handoff that was built now, and the runs its text shows.
// $handoff: MAP
// $carries: LIST<STRING>
// Columns: handoff
MATCH (f:ContextTransfer {id: $handoff.transferId})
CREATE (h:ContextHandoff)
SET h = $handoff
CREATE (f)-[:MATERIALIZED_AS]->(h)
WITH h
CALL (h) {
  UNWIND $carries AS runId
  MATCH (carried:Run {id: runId})
  CREATE (h)-[:CARRIES]->(carried)
}
RETURN h {.*} AS handoff
