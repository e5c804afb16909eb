// Which reports came after their run had ended, and what did they say? They changed nothing and are kept for audit.
// $rootThreadId: STRING
// Columns: seq, at, threadId, runId, runStatus, endedAt, report
MATCH (e:Event {rootThreadId: $rootThreadId, type: 'report.late'})
MATCH (r:Run {id: e.runId})
RETURN e.seq AS seq, e.at AS at, e.threadId AS threadId, r.id AS runId, r.status AS runStatus,
       r.endedAt AS endedAt, e.data AS report
ORDER BY seq
