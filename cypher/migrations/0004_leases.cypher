// Whose lease ran out. Only active runs have one, so the index is as small as their number.
CREATE INDEX run_lease IF NOT EXISTS FOR (n:Run) ON (n.leaseUntil);
MATCH (r:Run) WHERE r.leaseUntil IS NOT NULL AND NOT r.status IN ['starting', 'running']
CALL (r) { REMOVE r.leaseUntil } IN TRANSACTIONS OF 10000 ROWS;
