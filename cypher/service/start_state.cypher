// What a start in this thread has to know: the threads its history runs through, the provider's threads behind it,
// and the transfers into it that no run has consumed.
// $threadId: STRING
// $provider: STRING
// Columns: thread, chain, providerThreads, transfers, handoffs
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (t)<-[:FORK*0..]-(a:Thread)
  WITH DISTINCT a
  RETURN collect({
    threadId: a.id, originThreadId: a.originThreadId, originPosition: a.originPosition,
    originItemPosition: a.originItemPosition, originTokens: a.originTokens, originOrdinal: a.originOrdinal,
    headPosition: a.headPosition, headTokens: a.headTokens, headOrdinal: a.headOrdinal
  }) AS chain
}
CALL (t) {
  MATCH (t)-[:BACKED_BY]->(p:ProviderThread {provider: $provider})
  MATCH (tip:Run {id: p.tipRunId})
  ORDER BY p.tipPosition DESC
  LIMIT 100
  RETURN collect({
    providerThread: p {.*}, tipTokens: tip.tokensBefore + tip.tokens, tipOrdinal: tip.ordinal
  }) AS providerThreads
}
CALL (t) {
  MATCH (t)<-[:INTO]-(f:ContextTransfer)
  WHERE f.status <> 'consumed' AND f.supersededById IS NULL
  OPTIONAL MATCH (f)-[:MATERIALIZED_AS]->(h:ContextHandoff)
  RETURN collect(DISTINCT f {.*}) AS transfers, collect(h {.*}) AS handoffs
}
RETURN t {.*} AS thread, chain, providerThreads, transfers, handoffs
