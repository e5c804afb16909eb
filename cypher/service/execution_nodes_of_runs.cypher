// The native children that were seen in each of these runs, in the order in which they were first heard of.
// $runIds: LIST<STRING>
// Columns: records
UNWIND $runIds AS runId
MATCH (r:Run {id: runId})-[:HAS_NODE]->(n:ExecutionNode)
WITH n ORDER BY n.createdAt, n.id
RETURN collect(n {.*}) AS records
