// A new transfer into a thread, from its point and, for a delta, since its base point.
// $transfer: MAP
// Columns: transfer
MATCH (t:Thread {id: $transfer.targetThreadId})
MATCH (run:Run {id: $transfer.sourceRunId})
CREATE (f:ContextTransfer)
SET f = $transfer,
    f.sourceProvider = run.provider,
    f.sourceNativeThreadId = run.nativeThreadId,
    f.sourceNativeTurnId = run.nativeTurnId
CREATE (f)-[:INTO]->(t)
WITH f
CALL (f) {
  MATCH (point:Run {id: f.sourceRunId}) WHERE f.sourceCheckpointId IS NULL AND f.sourceTurnItemId IS NULL
  CREATE (f)-[:FROM]->(point)
  UNION ALL
  MATCH (point:Checkpoint {id: f.sourceCheckpointId}) WHERE f.sourceTurnItemId IS NULL
  CREATE (f)-[:FROM]->(point)
  UNION ALL
  MATCH (point:TurnItem {id: f.sourceTurnItemId})
  CREATE (f)-[:FROM]->(point)
  UNION ALL
  MATCH (point:Run {id: f.baseRunId})
  CREATE (f)-[:SINCE]->(point)
}
CALL (f) {
  // What is to be brought shows in the lineage at once, as a fork does.
  WITH f WHERE f.type = 'merge_back'
  MATCH (source:Thread {id: f.sourceThreadId})
  MATCH (target:Thread {id: f.targetThreadId})
  CREATE (source)-[:MERGE_BACK {transferId: f.id, createdAt: f.createdAt}]->(target)
}
CALL (f) {
  WITH f WHERE f.type = 'subagent_result'
  MATCH (source:Thread {id: f.sourceThreadId})
  MATCH (target:Thread {id: f.targetThreadId})
  CREATE (source)-[:SUBAGENT_RESULT {transferId: f.id, createdAt: f.createdAt}]->(target)
}
RETURN f {.*} AS transfer
