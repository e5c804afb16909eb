// The provider can't resume this thread of its own: no later start relies on it.
// One that holds a foreign turn stays divergent: it was not resumed for that.
// $providerThreadId: STRING
// Columns: providerThread
MATCH (p:ProviderThread {id: $providerThreadId})
SET p.status = CASE p.status WHEN 'divergent' THEN 'divergent' ELSE 'lost' END
RETURN p {.*} AS providerThread
