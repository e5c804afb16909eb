// A fork: one thread, one edge, one transfer; nothing of the source is read beyond the point itself.
// It is the command's last write, so it ends as record_command does: a test holds the two together.
// It gives no record where the source is no longer as the fork was decided on; the source is locked then all the same.
// $thread: MAP
// $transfer: MAP
// $sourceThreadId: STRING
// $sourceStatus: STRING
// $stableRunId: STRING
// $headRunId: STRING
// $pointId: STRING
// $rootThreadId: STRING
// $event: MAP
// $transferIds: LIST<STRING>
// $key: STRING
// $result: STRING
// $now: ZONED DATETIME
// Columns: seq
MATCH (source:Thread {id: $sourceThreadId})
SET source.updatedAt = $now
WITH source
WHERE source.status = $sourceStatus AND coalesce(source.stableRunId, '') = coalesce($stableRunId, '')
  AND coalesce(source.headRunId, '') = coalesce($headRunId, '')
CREATE (t:Thread)
SET t = $thread, t.createdAt = $now, t.updatedAt = $now
CREATE (f:ContextTransfer)
SET f = $transfer, f.createdAt = $now
CREATE (source)-[:FORK {transferId: f.id, createdAt: $now}]->(t)
CREATE (f)-[:INTO]->(t)
WITH f
CALL (f) {
  // Neo4j locks an id that it looks for in vain, here for all forks of one point: null is looked for without a lock.
  MATCH (point:Run {id: CASE WHEN $pointId STARTS WITH 'run_' THEN $pointId END})
  CREATE (f)-[:FROM]->(point)
  UNION ALL
  MATCH (point:Checkpoint {id: CASE WHEN $pointId STARTS WITH 'cpt_' THEN $pointId END})
  CREATE (f)-[:FROM]->(point)
  UNION ALL
  MATCH (point:TurnItem {id: CASE WHEN $pointId STARTS WITH 'itm_' THEN $pointId END})
  CREATE (f)-[:FROM]->(point)
}
MATCH (receipt:CommandReceipt {key: $key})
SET receipt.result = $result
WITH receipt
MATCH (root:Thread {id: $rootThreadId})
// Its node is locked by a write that reads nothing; else Neo4j takes its relationships' lock first, across which a fork
// of the root, which locks the node first, would deadlock.
SET root.latestEventAt = $now
WITH root
SET root.eventCount = root.eventCount + 1
CREATE (e:Event)
SET e = $event, e.rootThreadId = root.id, e.seq = root.eventCount, e.at = $now
WITH e
CALL (e) {
  UNWIND $transferIds AS transferId
  MATCH (f:ContextTransfer {id: transferId})
  SET f.seq = e.seq
}
RETURN e.seq AS seq
