// A handoff in the words of a person, in place of the one it was made from; both stay. It stands for the same runs.
// $handoff: MAP
// Columns: handoff
MATCH (old:ContextHandoff {id: $handoff.revisionOfId})
MATCH (f:ContextTransfer {id: $handoff.transferId})
CREATE (h:ContextHandoff)
SET h = $handoff, old.supersededById = h.id, f.handoffId = h.id
CREATE (f)-[:MATERIALIZED_AS]->(h)
CREATE (old)-[:SUPERSEDED_BY]->(h)
WITH old, h
CALL (old, h) {
  MATCH (old)-[:CARRIES]->(carried:Run)
  CREATE (h)-[:CARRIES]->(carried)
}
RETURN h {.*} AS handoff
