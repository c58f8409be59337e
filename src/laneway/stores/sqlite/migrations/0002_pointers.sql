-- Names that only point at an intent that is here: hashes of transactions, an account's numbers.
-- Hashes come in no order. In one tree each would dirty a page of its own (measured: a third of
-- all that a transfer cost); here those of one stretch of intents stand together, so that a group
-- commit writes few pages however many names there are. A look-up asks each stretch.

CREATE TABLE pointers (
    stretch INTEGER NOT NULL,
    name TEXT NOT NULL,
    value BLOB NOT NULL,
    no INTEGER NOT NULL,
    PRIMARY KEY (stretch, name, value)
) STRICT, WITHOUT ROWID;
