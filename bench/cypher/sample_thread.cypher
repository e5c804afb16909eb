// One root thread as the service wrote it, with the provider thread behind it and what its creation left.
// $threadId: STRING
// $key: STRING
// Columns: thread, providerThread, event, receipt
MATCH (t:Thread {id: $threadId})-[:BACKED_BY]->(p:ProviderThread)
MATCH (e:Event {rootThreadId: t.id, seq: 1})
MATCH (n:CommandReceipt {key: $key})
RETURN t {.*} AS thread, p {.*} AS providerThread, e {.*} AS event, n {.*} AS receipt
