// The provider's own threads behind a thread, the last used first.
// $threadId: STRING
// $limit: INTEGER
// Columns: records
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (t)-[:BACKED_BY]->(p:ProviderThread)
  WITH p ORDER BY p.tipPosition DESC LIMIT $limit
  RETURN collect(p {.*}) AS records
}
RETURN records
