// As claim_receipt; and for a fork that is new, its source, with what the fork takes over from the run of the source's
// latest stable point. The source is not locked yet: many forks of one thread would wait for each other all the while.
// $key: STRING
// $command: STRING
// $inputHash: STRING
// $threadId: STRING
// $now: ZONED DATETIME
// Columns: command, inputHash, result, thread, run
MERGE (receipt:CommandReceipt {key: $key})
  ON CREATE SET receipt.command = $command, receipt.inputHash = $inputHash, receipt.createdAt = $now
WITH receipt
OPTIONAL CALL (receipt) {
  WITH receipt WHERE receipt.result IS NULL
  MATCH (t:Thread {id: $threadId})
  OPTIONAL MATCH (r:Run {id: coalesce(t.stableRunId, t.originRunId)})
  RETURN t {.*} AS thread, r {
    .generation, .ordinal, .tokensBefore, .tokens, .provider, .nativeThreadId, .nativeTurnId
  } AS run
}
RETURN receipt.command AS command, receipt.inputHash AS inputHash, receipt.result AS result, thread, run
