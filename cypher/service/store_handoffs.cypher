// Handoffs that were built now, each with the runs its text shows.
// $handoffs: LIST<MAP>
// Columns: stored
UNWIND $handoffs AS draft
MATCH (f:ContextTransfer {id: draft.handoff.transferId})
CREATE (h:ContextHandoff)
SET h = draft.handoff
CREATE (f)-[:MATERIALIZED_AS]->(h)
WITH h, draft.carries AS carries
CALL (h, carries) {
  UNWIND carries AS runId
  MATCH (carried:Run {id: runId})
  CREATE (h)-[:CARRIES]->(carried)
}
RETURN count(h) AS stored
