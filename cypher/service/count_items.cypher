// How many items a history holds.
// $segments: LIST<MAP>
// Columns: total
UNWIND $segments AS s
CALL (s) {
  MATCH (r:Run {threadId: s.threadId})
  WHERE r.position >= s.firstRun AND r.position <= s.throughRun AND r.startedAt IS NOT NULL
  WITH s, r, CASE WHEN r.position = s.throughRun AND s.throughItem < r.itemCount THEN s.throughItem ELSE r.itemCount END AS last
  RETURN sum(last - CASE WHEN r.position = s.afterRun THEN s.afterItem ELSE 0 END) AS items
}
RETURN coalesce(sum(items), 0) AS total
