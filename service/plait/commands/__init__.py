"""The use cases, one module each; each command is one managed transaction with its event and its receipt."""
