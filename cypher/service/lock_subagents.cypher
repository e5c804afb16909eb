// The subagents below a thread, to any depth, locked for this transaction; what was forked from them is not below it.
// $threadId: STRING
// $now: ZONED DATETIME
// Columns: subagents
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (t) (()-[:SUBAGENT]->(:Thread))+ (s:Thread)
  WITH DISTINCT s ORDER BY s.generation, s.id
  SET s.updatedAt = $now
  RETURN collect(s {.*}) AS subagents
}
RETURN subagents
