"""Plait: a lineage service for agent threads."""
