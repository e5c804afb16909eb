// The first item of each run: the message that set it off.
// $runIds: LIST<STRING>
// Columns: records
UNWIND $runIds AS runId
MATCH (i:TurnItem {runId: runId, position: 1})
RETURN collect(i {.*}) AS records
