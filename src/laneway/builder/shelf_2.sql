-- From shape 1 to 2: what final blocks executed is kept longer than the blocks.

CREATE TABLE past (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    package_hash BLOB NOT NULL,
    count INTEGER NOT NULL
);

CREATE TABLE executed (
    hash BLOB PRIMARY KEY,
    number INTEGER NOT NULL,
    place INTEGER NOT NULL,
    status TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX executed_by_number ON executed (number);

INSERT OR IGNORE INTO past
SELECT b.number, b.hash, b.package_hash, (SELECT count(*) FROM receipts r WHERE r.block = b.no)
FROM blocks b WHERE b.stage = 2;

INSERT INTO executed
SELECT r.hash, b.number, r.place, r.status
FROM receipts r JOIN blocks b ON b.no = r.block
WHERE b.stage = 2 ORDER BY b.number DESC
ON CONFLICT (hash) DO NOTHING;

DELETE FROM receipts WHERE block IN (SELECT no FROM blocks WHERE stage = 2);
