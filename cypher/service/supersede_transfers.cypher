// Transfers that will not be used: superseded, by a named one where there is one.
// $ids: LIST<STRING>
// $successorId: STRING
// Columns: superseded
MATCH (old:ContextTransfer)
WHERE old.id IN $ids
SET old.status = 'superseded', old.supersededById = $successorId
WITH old
CALL (old) {
  MATCH (successor:ContextTransfer {id: $successorId})
  CREATE (old)-[:SUPERSEDED_BY]->(successor)
}
CALL (old) {
  // What was never brought is no lineage.
  WITH old WHERE old.type = 'merge_back'
  MATCH ()-[edge:MERGE_BACK {transferId: old.id}]->()
  DELETE edge
}
RETURN count(old) AS superseded
