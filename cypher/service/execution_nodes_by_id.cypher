// execution nodes by id, in no order; ids of nothing are left out.
// $ids: LIST<STRING>
// Columns: records
UNWIND $ids AS id
MATCH (n:ExecutionNode {id: id})
RETURN collect(n {.*}) AS records
