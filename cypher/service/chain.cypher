// The threads that a thread's history runs through, itself included.
// $threadId: STRING
// Columns: chain
MATCH (t:Thread {id: $threadId})
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
