"""Drafts for officers and registries: an impact assessment, and a record of the deployment."""
