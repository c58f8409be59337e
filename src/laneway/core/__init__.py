"""Nouns and laws: ids, intent, rows, records, outcome, errors. Pure: no clock, disk or network."""
