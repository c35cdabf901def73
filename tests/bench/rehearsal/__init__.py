"""How well the score of a rehearsal measures: players of known strength against the same simulated people."""
