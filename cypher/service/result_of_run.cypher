// The result that a run of a subagent gave back, as it stands now: rollbacks make it anew. Null where there is none.
// $threadId: STRING
// $runId: STRING
// Columns: transfer
OPTIONAL CALL () {
  MATCH (f:ContextTransfer)
  USING INDEX f:ContextTransfer(sourceThreadId, seq)
  WHERE f.sourceThreadId = $threadId AND f.seq > 0 AND f.type = 'subagent_result' AND f.sourceRunId = $runId
  RETURN f ORDER BY f.sourceThreadId DESC, f.seq DESC LIMIT 1
}
RETURN f {.*} AS transfer
