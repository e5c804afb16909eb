// An active run's own properties change, and its executor has been heard of: its plan, its lease.
// $runId: STRING
// $properties: MAP
// $leaseMilliseconds: INTEGER
// Columns: run
MATCH (r:Run {id: $runId})
SET r += $properties, r.leaseUntil = datetime() + duration({milliseconds: $leaseMilliseconds})
RETURN r {.*} AS run
