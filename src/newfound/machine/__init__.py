"""The Tsetlin Machine: classifier, clauses as arrays, committee."""
