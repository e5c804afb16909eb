// A page of the items that a history holds, newest first. Segments come newest first.
// $segments: LIST<MAP>
// $limit: INTEGER
// Columns: records
UNWIND $segments AS s
CALL (s) {
  MATCH (r:Run {threadId: s.threadId})
  WHERE r.position >= s.firstRun AND r.position <= s.throughRun AND r.startedAt IS NOT NULL
  WITH s, r ORDER BY r.threadId DESC, r.position DESC LIMIT $limit + 1
  CALL (s, r) {
    MATCH (i:TurnItem {runId: r.id})
    WHERE i.position > 0
      AND (r.position > s.afterRun OR i.position > s.afterItem)
      AND (r.position < s.throughRun OR i.position <= s.throughItem)
    RETURN i ORDER BY i.runId DESC, i.position DESC LIMIT $limit
  }
  RETURN i, r.position AS position ORDER BY r.threadId DESC, r.position DESC, i.position DESC LIMIT $limit
}
WITH i, position LIMIT $limit
RETURN collect({item: i {.*}, position: position}) AS records
