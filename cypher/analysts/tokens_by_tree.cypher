// How many tokens did each tree take, as its providers counted them? Each run counts once, however many forks inherit
// it; a fork that never ran takes none. The most expensive trees first.
// $limit: INTEGER
// Columns: rootThreadId, title, threads, runs, inputTokens, outputTokens
MATCH (t:Thread)
OPTIONAL MATCH (t)-[:HAS_RUN]->(r:Run WHERE r.startedAt IS NOT NULL)
WITH t.rootThreadId AS rootThreadId, count(DISTINCT t) AS threads, count(r) AS runs,
     sum(r.inputTokens) AS inputTokens, sum(r.outputTokens) AS outputTokens
ORDER BY inputTokens + outputTokens DESC, rootThreadId
LIMIT $limit
MATCH (root:Thread {id: rootThreadId})
RETURN rootThreadId, root.title AS title, threads, runs, inputTokens, outputTokens
ORDER BY inputTokens + outputTokens DESC, rootThreadId
