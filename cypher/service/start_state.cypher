// What a start in this thread has to know: the threads its history runs through, the provider's threads behind it,
// the transfers for its own history that no run has consumed, and those that bring something from other threads.
// $threadId: STRING
// $provider: STRING
// Columns: thread, chain, providerThreads, transfers, handoffs, brought
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (t) ((b:Thread WHERE b.originThreadId IS NOT NULL)<-[:FORK|SUBAGENT]-(:Thread))* (a:Thread)
  WITH DISTINCT a
  RETURN collect({
    threadId: a.id, originThreadId: a.originThreadId, originPosition: a.originPosition,
    originItemPosition: a.originItemPosition, originTokens: a.originTokens, originOrdinal: a.originOrdinal,
    headPosition: a.headPosition, headTokens: a.headTokens, headOrdinal: a.headOrdinal,
    joints: COLLECT {
      MATCH (r:Run)
      USING INDEX r:Run(threadId, jointPrevious)
      WHERE r.threadId = a.id AND r.jointPrevious >= 0
      RETURN r {
        .position, .ordinal, .tokensBefore,
        previous: r.jointPrevious, previousOrdinal: r.jointPreviousOrdinal, previousTokens: r.jointPreviousTokens,
        adds: r.jointAdds, leaves: r.jointLeaves
      }
    }
  }) AS chain
}
CALL (t) {
  // The latest few are enough: the later its last run, the more of the history a provider thread knows. Those that
  // can't be resumed are there to say why; they must not hide one that can.
  CALL (t) {
    MATCH (p:ProviderThread)
    USING INDEX p:ProviderThread(threadId, provider, tipPosition)
    WHERE p.threadId = t.id AND p.provider = $provider AND p.tipPosition > 0
    WITH p ORDER BY p.threadId DESC, p.provider DESC, p.tipPosition DESC
    WHERE p.status = 'active'
    RETURN p LIMIT 20
    UNION ALL
    MATCH (p:ProviderThread)
    USING INDEX p:ProviderThread(threadId, provider, tipPosition)
    WHERE p.threadId = t.id AND p.provider = $provider AND p.tipPosition > 0
    WITH p ORDER BY p.threadId DESC, p.provider DESC, p.tipPosition DESC
    WHERE p.status <> 'active'
    RETURN p LIMIT 5
  }
  MATCH (tip:Run {id: p.tipRunId})
  RETURN collect({
    providerThread: p {.*}, tipTokens: tip.tokensBefore + tip.tokens, tipOrdinal: tip.ordinal
  }) AS providerThreads
}
CALL (t) {
  MATCH (f:ContextTransfer)
  USING INDEX f:ContextTransfer(targetThreadId, status)
  WHERE f.targetThreadId = t.id AND f.supersededById IS NULL
    AND f.status IN ['pending', 'resolved_native', 'resolved_portable', 'failed', 'superseded']
    // The context of a cancelled fork or spawn is still to be told: the next start makes a transfer in its place.
    AND (f.status <> 'superseded' OR f.type IN ['fork', 'subagent_spawn'])
    AND NOT f.type IN ['merge_back', 'subagent_result']
  OPTIONAL MATCH (f)-[:MATERIALIZED_AS]->(h:ContextHandoff)
  RETURN collect(DISTINCT f {.*}) AS transfers, collect(h {.*}) AS handoffs
}
CALL (t) {
  MATCH (f:ContextTransfer)
  USING INDEX f:ContextTransfer(targetThreadId, status)
  WHERE f.targetThreadId = t.id AND f.supersededById IS NULL
    AND f.status IN ['pending', 'resolved_native', 'resolved_portable', 'failed']
    AND f.type IN ['merge_back', 'subagent_result']
  MATCH (r:Run {id: f.sourceRunId})
  MATCH (source:Thread {id: f.sourceThreadId})
  RETURN collect({
    transfer: f {.*}, title: source.title, generation: r.generation, ordinal: r.ordinal, tokens: r.tokensBefore + r.tokens,
    run: CASE f.type WHEN 'subagent_result' THEN r {.*, plan: null} END,
    // A fork keeps the point it was taken from; a run of the source's own may have been rolled back since.
    gone: r.status = 'rolled_back' AND r.threadId = f.sourceThreadId,
    handoffs: COLLECT { MATCH (f)-[:MATERIALIZED_AS]->(h:ContextHandoff) RETURN h {.*} }
  }) AS brought
}
RETURN t {.*} AS thread, chain, providerThreads, transfers, handoffs, brought
