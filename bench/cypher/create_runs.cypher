// Completed runs of root threads, with all that the service writes around each.
// $rows: LIST<MAP>
UNWIND $rows AS row
MATCH (t:Thread {id: row.run.threadId})
MATCH (p:ProviderThread {id: row.run.providerThreadId})
CREATE (r:Run)
SET r = row.run
CREATE (t)-[:HAS_RUN]->(r)
CREATE (p)-[:COVERS {via: 'native', nativeTurnId: r.nativeTurnId}]->(r)
CREATE (c:Checkpoint)
SET c = row.checkpoint
CREATE (t)-[:HAS_CHECKPOINT]->(c)
CREATE (c)-[:OF_RUN]->(r)
WITH r, row
CALL (r, row) {
  UNWIND row.items AS item
  CREATE (i:TurnItem)
  SET i = item
  CREATE (r)-[:HAS_ITEM]->(i)
}
CALL (row) {
  UNWIND row.events AS event
  CREATE (e:Event)
  SET e = event
}
CALL (row) {
  UNWIND row.receipts AS receipt
  CREATE (n:CommandReceipt)
  SET n = receipt
}
