// A fork: one thread, one edge, one transfer; nothing of the source is read beyond the point itself.
// The point's run gives the generation and the token count that the new thread starts from.
// $thread: MAP
// $transfer: MAP
// $sourceThreadId: STRING
// $runId: STRING
// $pointId: STRING
// $now: ZONED DATETIME
// Columns: thread, transfer
MATCH (source:Thread {id: $sourceThreadId})
MATCH (run:Run {id: $runId})
CREATE (t:Thread)
SET t = $thread,
    t.headGeneration = run.generation,
    t.originOrdinal = run.ordinal,
    t.originTokens = run.tokensBefore + run.tokens
CREATE (f:ContextTransfer)
SET f = $transfer,
    f.sourceProvider = run.provider,
    f.sourceNativeThreadId = run.nativeThreadId,
    f.sourceNativeTurnId = run.nativeTurnId
CREATE (source)-[:FORK {transferId: f.id, createdAt: $now}]->(t)
CREATE (f)-[:INTO]->(t)
WITH run, t, f
CALL (run, f) {
  WITH run, f WHERE $pointId = run.id
  CREATE (f)-[:FROM]->(run)
  UNION ALL
  MATCH (point:Checkpoint {id: $pointId})
  CREATE (f)-[:FROM]->(point)
  UNION ALL
  MATCH (point:TurnItem {id: $pointId})
  CREATE (f)-[:FROM]->(point)
}
RETURN t {.*} AS thread, f {.*} AS transfer
