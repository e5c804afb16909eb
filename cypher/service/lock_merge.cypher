// Two threads, locked for this transaction in one order with all other commands: the root of their tree last. And what
// waits to be merged from the one into the other; `inUse` where a run that starts carries it already.
// $sourceThreadId: STRING
// $targetThreadId: STRING
// $now: ZONED DATETIME
// Columns: source, target, waiting
MATCH (source:Thread {id: $sourceThreadId})
MATCH (target:Thread {id: coalesce($targetThreadId, source.parentThreadId)})
CALL (source, target) {
  UNWIND [source, target] AS t
  WITH DISTINCT t
  ORDER BY t.id = t.rootThreadId, t.id
  SET t.updatedAt = $now
  RETURN count(t) AS locked
}
CALL (source, target) {
  MATCH (f:ContextTransfer)
  USING INDEX f:ContextTransfer(targetThreadId, status)
  WHERE f.targetThreadId = target.id AND f.supersededById IS NULL
    AND f.status IN ['pending', 'resolved_native', 'resolved_portable', 'failed']
    AND f.type = 'merge_back' AND f.sourceThreadId = source.id
  WITH f ORDER BY f.seq
  RETURN collect({
    transfer: f {.*},
    inUse: EXISTS { MATCH (r:Run {id: target.activeRunId, status: 'starting'}) WHERE f.id IN r.transferIds }
  }) AS waiting
}
RETURN source {.*} AS source, target {.*} AS target, waiting
