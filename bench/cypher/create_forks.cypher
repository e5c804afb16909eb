// Forks: the threads with their transfers, events and receipts. Their edges come after: a parent may be in the same rows.
// $thread: MAP
// $transfer: MAP
// $event: MAP
// $receipt: MAP
// $rows: LIST<MAP>
UNWIND $rows AS row
MATCH (c:Checkpoint {id: row.thread.originCheckpointId})
CREATE (t:Thread)
SET t = $thread, t += row.thread
CREATE (f:ContextTransfer)
SET f = $transfer, f += row.transfer
CREATE (f)-[:INTO]->(t)
CREATE (f)-[:FROM]->(c)
CREATE (e:Event)
SET e = $event, e += row.event
CREATE (n:CommandReceipt)
SET n = $receipt, n.key = row.key
