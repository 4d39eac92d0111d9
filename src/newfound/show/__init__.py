"""What people see of a result, made from its values: sentences, tables, JSON, pages, plots."""
