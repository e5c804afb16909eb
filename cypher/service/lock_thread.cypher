// The thread, locked for this transaction: one command at a time changes a thread.
// $threadId: STRING
// $now: ZONED DATETIME
// Columns: thread
MATCH (t:Thread {id: $threadId})
SET t.updatedAt = $now
RETURN t {.*} AS thread
