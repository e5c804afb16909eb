// Transfers that will not be used: superseded, by a named one where there is one, with what else is to be said of them.
// $ids: LIST<STRING>
// $successorId: STRING
// $properties: MAP
// Columns: records
UNWIND $ids AS id
MATCH (old:ContextTransfer {id: id})
SET old += $properties
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
CALL (old) {
  WITH old WHERE old.type = 'subagent_result'
  MATCH ()-[edge:SUBAGENT_RESULT {transferId: old.id}]->()
  DELETE edge
}
RETURN collect(old {.*}) AS records
