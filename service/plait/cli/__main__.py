"""`python -m plait.cli`, the same as `plait`."""

from plait.cli.main import app

app()
