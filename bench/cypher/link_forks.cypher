// The edges of forks that were just made.
// $edge: MAP
// $rows: LIST<MAP>
UNWIND $rows AS row
MATCH (source:Thread {id: row.thread.parentThreadId})
MATCH (t:Thread {id: row.thread.id})
CREATE (source)-[edge:FORK]->(t)
SET edge = $edge, edge += {transferId: row.transfer.id}
