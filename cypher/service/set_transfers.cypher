// Transfers move along their state machine; the domain has decided where each goes to.
// $transfers: LIST<MAP>
// Columns: records
UNWIND $transfers AS transfer
MATCH (f:ContextTransfer {id: transfer.id})
SET f += transfer.properties
RETURN collect(f {.*}) AS records
