// One fork as the service wrote it.
// $threadId: STRING
// $key: STRING
// Columns: thread, transfer, edge, event, receipt
MATCH (:Thread)-[edge:FORK]->(t:Thread {id: $threadId})<-[:INTO]-(f:ContextTransfer)
MATCH (e:Event {threadId: t.id, type: 'thread.forked', rootThreadId: t.rootThreadId})
MATCH (n:CommandReceipt {key: $key})
RETURN t {.*} AS thread, f {.*} AS transfer, edge {.*} AS edge, e {.*} AS event, n {.*} AS receipt
