// What ends every command: its event, in the order of the tree, which is that of the transfers it made as well,
// and its answer on the receipt.
// The root thread is written here, last: that lock orders the events of a tree, and is held as briefly as can be.
// $rootThreadId: STRING
// $event: MAP
// $transferIds: LIST<STRING>
// $key: STRING
// $result: STRING
// $now: ZONED DATETIME
// Columns: seq
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
