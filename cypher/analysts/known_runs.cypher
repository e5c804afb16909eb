// Which runs of a thread's history does each provider thread behind it know, natively or by which handoff?
// What it knows by a native fork is covered by the provider thread it was forked from (`coveredBy`).
// $threadId: STRING
// Columns: provider, providerThreadId, runThreadId, position, runId, via, handoffId, coveredBy
MATCH (t:Thread {id: $threadId})-[:BACKED_BY]->(p:ProviderThread)
MATCH path = (t)<-[:FORK*0..]-(:Thread {id: t.rootThreadId})
// The history of its last run: the thread through that run, then each thread it comes from through the point.
WITH p, reduce(
  walk = {next: t.id, through: p.tipPosition, parts: []},
  n IN nodes(path) |
    CASE WHEN n.id = walk.next
      THEN {next: n.originThreadId, through: n.originPosition,
            parts: walk.parts + [{threadId: n.id, through: walk.through, distance: n.depth}]}
      ELSE walk
    END
).parts AS parts
MATCH (p)-[:FORKED_FROM]->*(covering:ProviderThread)-[covers:COVERS]->(r:Run)
UNWIND parts AS part
WITH p, covering, covers, r, part
WHERE part.threadId = r.threadId AND r.position <= part.through
RETURN p.provider AS provider, p.id AS providerThreadId, r.threadId AS runThreadId, r.position AS position,
       r.id AS runId, covers.via AS via, covers.handoffId AS handoffId, covering.id AS coveredBy
ORDER BY provider, providerThreadId, part.distance, position, via
