// A run's own properties change: its plan, its lease, its end before any provider accepted it.
// $runId: STRING
// $properties: MAP
// Columns: run
MATCH (r:Run {id: $runId})
SET r += $properties
RETURN r {.*} AS run
