// What it takes to say what provider threads know: their tips, the native forks they come from (`links`), the handoffs
// that were told to any of these, and the threads that the histories run through.
// $ids: LIST<STRING>
// Columns: providerThreads, links, told, chain
CALL () {
  UNWIND $ids AS id
  MATCH (p:ProviderThread {id: id})
  RETURN collect(p) AS asked
}
CALL (asked) {
  UNWIND asked AS p
  MATCH (p)-[:FORKED_FROM*0..]->(q:ProviderThread)
  WITH DISTINCT q
  OPTIONAL MATCH (q)-[e:FORKED_FROM]->(origin:ProviderThread)
  OPTIONAL MATCH (last:Run {id: e.throughRunId})
  RETURN collect(q) AS line, collect({id: q.id, originId: origin.id, through: last.position}) AS links
}
CALL (line) {
  // By the transfers they carried out: the runs that were told something are found without reading the others.
  UNWIND line AS q
  WITH DISTINCT q.threadId AS threadId
  MATCH (f:ContextTransfer)
  USING INDEX f:ContextTransfer(targetThreadId, status)
  WHERE f.targetThreadId = threadId AND f.status = 'consumed'
  WITH DISTINCT f.consumedByRunId AS runId
  MATCH (r:Run {id: runId})
  UNWIND r.handoffIds AS handoffId
  MATCH (h:ContextHandoff {id: handoffId})
  RETURN collect({
    providerThreadId: r.providerThreadId, position: r.position, handoffId: h.id, segments: h.segments
  }) AS told
}
CALL (asked) {
  // A native fork that took no turn yet has its tip where it was forked.
  UNWIND asked AS p
  UNWIND [p.threadId, coalesce(p.tipThreadId, p.threadId)] AS threadId
  WITH DISTINCT threadId
  MATCH (t:Thread {id: threadId})
        ((b:Thread WHERE b.originThreadId IS NOT NULL)<-[:FORK|SUBAGENT]-(:Thread))* (a:Thread)
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
RETURN [p IN asked | p {.id, .threadId, .tipPosition, tipThreadId: coalesce(p.tipThreadId, p.threadId)}] AS providerThreads, links, told, chain
