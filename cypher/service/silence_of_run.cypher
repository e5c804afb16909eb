// Since when has nothing been heard of the executor of a run? Null where it was heard of in time, or has ended.
// $runId: STRING
// Columns: since
MATCH (r:Run {id: $runId})
RETURN CASE WHEN r.leaseUntil < datetime() THEN r.leaseUntil END AS since
