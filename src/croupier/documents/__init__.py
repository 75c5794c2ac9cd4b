"""What people look at: plots, tables and pages."""
