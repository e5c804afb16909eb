// Root threads, each with the provider thread behind it and what its creation left; their runs come after.
// $rows: LIST<MAP>
UNWIND $rows AS row
CREATE (t:Thread)
SET t = row.thread
CREATE (p:ProviderThread)
SET p = row.providerThread
CREATE (t)-[:BACKED_BY]->(p)
CREATE (e:Event)
SET e = row.event
CREATE (n:CommandReceipt)
SET n = row.receipt
