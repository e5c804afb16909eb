// The items of runs between two of their numbers, each run's in order, no more than hold the budget: the first, and
// the newest of the others, or with `opening` the oldest. Sizes are looked at before any text is read.
// $runs: LIST<MAP>
// $budgetTokens: INTEGER
// Columns: runs
UNWIND $runs AS wanted
CALL (wanted) {
  MATCH (i:TurnItem)
  USING INDEX i:TurnItem(runId, position)
  WHERE i.runId = wanted.runId AND i.position > wanted.after AND i.position <= wanted.through
  WITH wanted, i ORDER BY i.runId, i.position
  WITH wanted, collect([i.position, i.tokens]) AS sizes
  WITH wanted, size(sizes) AS total, reduce(
    found = [$budgetTokens, 0],
    entry IN CASE WHEN wanted.opening THEN sizes ELSE reverse(sizes) END |
    CASE WHEN found[0] > 0 THEN [found[0] - entry[1], entry[0]] ELSE found END
  )[1] AS edge
  CALL (wanted, edge) {
    MATCH (i:TurnItem)
    USING INDEX i:TurnItem(runId, position)
    WHERE i.runId = wanted.runId AND i.position > wanted.after AND i.position <= wanted.through
      // By CASE alone: of an OR the planner may make two seeks, and sort them.
      AND CASE WHEN i.position = wanted.after + 1 THEN true
               WHEN wanted.opening THEN i.position <= edge ELSE i.position >= edge END
    WITH i ORDER BY i.runId, i.position
    RETURN collect(i {.*}) AS items
  }
  RETURN items, total
}
RETURN collect({runId: wanted.runId, items: items, total: total}) AS runs
