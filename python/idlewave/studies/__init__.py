"""Studies: many simulations of one program, and the table that they make."""
