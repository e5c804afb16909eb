// A provider thread, locked for this transaction.
// $providerThreadId: STRING
// $threadId: STRING
// Columns: providerThread
MATCH (p:ProviderThread {id: $providerThreadId})
SET p.threadId = $threadId
RETURN p {.*} AS providerThread
