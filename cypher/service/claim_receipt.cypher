// Was this command given before? The first to ask makes the receipt and does the work in the same transaction;
// any other waits here for that transaction, then finds the answer.
// $key: STRING
// $command: STRING
// $inputHash: STRING
// $now: ZONED DATETIME
// Columns: command, inputHash, result
MERGE (receipt:CommandReceipt {key: $key})
  ON CREATE SET receipt.command = $command, receipt.inputHash = $inputHash, receipt.createdAt = $now
RETURN receipt.command AS command, receipt.inputHash AS inputHash, receipt.result AS result
