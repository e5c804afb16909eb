// The provider can't resume this thread of its own: no later start relies on it.
// $providerThreadId: STRING
// Columns: providerThread
MATCH (p:ProviderThread {id: $providerThreadId})
SET p.status = 'lost'
RETURN p {.*} AS providerThread
