// The forks and subagents around a thread: ancestors, descendants or both, by generation, one page, and the edges that lead to
// the nodes of the page from nodes of the answer. In a tree a thread's depth tells its distance.
// $threadId: STRING
// $up: BOOLEAN
// $down: BOOLEAN
// $maxDepth: INTEGER
// $asOf: ZONED DATETIME
// $afterGeneration: INTEGER
// $afterId: STRING
// $kinds: LIST<STRING>
// $limit: INTEGER
// Columns: total, beyond, edges, nodes
MATCH (t:Thread {id: $threadId})
WITH t, t.depth - $maxDepth AS top, t.depth + $maxDepth AS bottom
CALL (t, top, bottom) {
  RETURN t AS n
  UNION
  WITH t, top, bottom WHERE $up
  MATCH (t) (()<-[e:FORK|SUBAGENT WHERE type(e) IN $kinds]-(a:Thread WHERE a.depth >= top))+ (n:Thread)
  RETURN DISTINCT n
  UNION
  WITH t, top, bottom WHERE $down
  MATCH (t) (()-[e:FORK|SUBAGENT WHERE type(e) IN $kinds]->(d:Thread WHERE d.depth <= bottom AND d.createdAt <= $asOf))+ (n:Thread)
  RETURN DISTINCT n
}
WITH t, top, bottom, n ORDER BY n.generation, n.id
WITH t, top, bottom, collect(n) AS found
CALL (found) {
  UNWIND found AS n
  WITH n WHERE n.generation > $afterGeneration OR (n.generation = $afterGeneration AND n.id > $afterId)
  WITH n ORDER BY n.generation, n.id LIMIT $limit
  RETURN collect(n) AS page
}
CALL (found, page) {
  UNWIND page AS n
  MATCH (s:Thread)-[e:FORK|MERGE_BACK|SUBAGENT|SUBAGENT_RESULT]->(n)
  WHERE s IN found AND e.createdAt <= $asOf AND type(e) IN $kinds
  RETURN collect({
    id: e.transferId, kind: type(e), sourceThreadId: s.id, targetThreadId: n.id,
    transferId: e.transferId, createdAt: e.createdAt
  }) AS edges
}
CALL (found, top, bottom) {
  // Is there more beyond the depth that was asked for?
  UNWIND found AS n
  WITH n WHERE ($down AND n.depth = bottom) OR ($up AND n.depth = top)
  WITH n WHERE ($down AND n.depth = bottom AND EXISTS { (n)-[e:FORK|SUBAGENT WHERE type(e) IN $kinds]->(:Thread) })
            OR ($up AND n.depth = top AND EXISTS { (n)<-[e:FORK|SUBAGENT WHERE type(e) IN $kinds]-(:Thread) })
  RETURN count(n) AS beyond
}
RETURN size(found) AS total, beyond, edges,
       [n IN page | {thread: n {.*}, depth: abs(n.depth - t.depth)}] AS nodes
