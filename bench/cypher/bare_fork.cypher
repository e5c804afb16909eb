// A fork as a person would write it by hand, for this alone: one statement that leaves what the service leaves.
// $key: STRING
// $inputHash: STRING
// $sourceThreadId: STRING
// $threadId: STRING
// $transferId: STRING
// $eventId: STRING
// $result: STRING
// $now: ZONED DATETIME
// Columns: thread, transfer
MERGE (receipt:CommandReceipt {key: $key})
  ON CREATE SET receipt.command = 'forkThread', receipt.inputHash = $inputHash, receipt.createdAt = $now
WITH receipt WHERE receipt.result IS NULL
MATCH (source:Thread {id: $sourceThreadId})
SET source.updatedAt = $now
WITH receipt, source
MATCH (run:Run {id: source.stableRunId})
MATCH (point:Checkpoint {id: source.stableCheckpointId})
CREATE (t:Thread {
  id: $threadId, status: 'active', createdBy: 'user', createdAt: $now, updatedAt: $now,
  generation: source.generation + 1, depth: source.depth + 1, parentThreadId: source.id, relationshipToParent: 'fork',
  rootThreadId: source.rootThreadId, runCount: 0, checkpointCount: 0, headPosition: 0, headGeneration: run.generation, headOrdinal: 0,
  headTokens: 0, acceptedRuns: 0, acceptedTokens: 0, originThreadId: run.threadId, originRunId: run.id, originPosition: run.position,
  originCheckpointId: point.id, originOrdinal: run.ordinal, originTokens: run.tokensBefore + run.tokens, eventCount: 0
})
CREATE (f:ContextTransfer {
  id: $transferId, type: 'fork', status: 'pending', sourceThreadId: source.id, targetThreadId: t.id,
  sourcePointThreadId: run.threadId, sourceRunId: run.id, sourcePosition: run.position, sourceCheckpointId: point.id,
  sourceProvider: run.provider, sourceNativeThreadId: run.nativeThreadId, sourceNativeTurnId: run.nativeTurnId,
  createdBy: 'user', createdAt: $now
})
CREATE (source)-[:FORK {transferId: f.id, createdAt: $now}]->(t)
CREATE (f)-[:INTO]->(t)
CREATE (f)-[:FROM]->(point)
SET receipt.result = $result
WITH t, f
MATCH (root:Thread {id: t.rootThreadId})
SET root.latestEventAt = $now
WITH root, t, f
SET root.eventCount = root.eventCount + 1, f.seq = root.eventCount
CREATE (:Event {
  id: $eventId, type: 'thread.forked', threadId: t.id, transferId: f.id, rootThreadId: root.id, seq: root.eventCount,
  at: $now, data: '{"sourceThreadId":"' + $sourceThreadId + '"}'
})
RETURN t {.*} AS thread, f {.*} AS transfer
