// Forks, each in a transaction's worth of rows: the thread, its edge, its transfer, its event and its receipt.
// $thread: MAP
// $transfer: MAP
// $edge: MAP
// $event: MAP
// $receipt: MAP
// $rows: LIST<MAP>
UNWIND $rows AS row
MATCH (source:Thread {id: row.thread.parentThreadId})
MATCH (c:Checkpoint {id: row.thread.originCheckpointId})
CREATE (t:Thread)
SET t = $thread, t += row.thread
CREATE (f:ContextTransfer)
SET f = $transfer, f += row.transfer
CREATE (source)-[edge:FORK]->(t)
SET edge = $edge, edge.transferId = f.id
CREATE (f)-[:INTO]->(t)
CREATE (f)-[:FROM]->(c)
CREATE (e:Event)
SET e = $event, e += row.event
CREATE (n:CommandReceipt)
SET n = $receipt, n.key = row.key
