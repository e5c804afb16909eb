// A run with its thread, the thread locked for this transaction.
// $runId: STRING
// $now: ZONED DATETIME
// Columns: thread, run
MATCH (r:Run {id: $runId})
MATCH (t:Thread {id: r.threadId})
SET t.updatedAt = $now
WITH t, r
RETURN t {.*} AS thread, r {.*} AS run
