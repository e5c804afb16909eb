// Which active runs have an executor that was not heard of in time, by the clock of the database?
// $limit: INTEGER
// Columns: ids
CALL () {
  MATCH (r:Run)
  USING INDEX r:Run(leaseUntil)
  WHERE r.leaseUntil < datetime()
  RETURN r.id AS id LIMIT $limit
}
RETURN collect(id) AS ids
