-- What a builder keeps. All of it can be made again: from the chain, and from what a lane brings.

CREATE TABLE about (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

-- The newest final block whose state is in the entries: one row.
CREATE TABLE base (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    hash BLOB NOT NULL,
    payload BLOB NOT NULL
);

CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

-- Final blocks by their numbers, down to where it was forgotten what they executed.
CREATE TABLE past (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    package_hash BLOB NOT NULL,
    count INTEGER NOT NULL
);

-- Their transactions.
CREATE TABLE executed (
    hash BLOB PRIMARY KEY,
    number INTEGER NOT NULL,
    place INTEGER NOT NULL,
    status TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX executed_by_number ON executed (number);

-- Blocks that are open, and some of those that are final; stage 0 built, 1 accumulated, 2 final.
CREATE TABLE blocks (
    no INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    number INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    package_hash BLOB NOT NULL,
    payload BLOB NOT NULL
);
CREATE INDEX blocks_by_number ON blocks (number);
CREATE INDEX open_blocks_by_number ON blocks (number) WHERE stage < 2;

-- Transactions of open blocks.
CREATE TABLE receipts (
    hash BLOB NOT NULL,
    block INTEGER NOT NULL REFERENCES blocks (no),
    place INTEGER NOT NULL,
    status TEXT NOT NULL,
    PRIMARY KEY (hash, block)
) WITHOUT ROWID;
CREATE INDEX receipts_by_block ON receipts (block);
