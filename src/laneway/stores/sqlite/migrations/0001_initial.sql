-- The first shape of the database.
-- High-volume tables are append-only by rowid: clustering by lane scatters a group commit over
-- one page a lane (measured: 31k against 76k jobs/s at 100 lanes).

-- The letters "lane": what `file` and our own door know the file by.
PRAGMA application_id = 1818324581;

CREATE TABLE lanes (
    no INTEGER PRIMARY KEY,
    lane TEXT NOT NULL UNIQUE,
    seq_next INTEGER NOT NULL,
    accepted_count INTEGER NOT NULL,
    accepted_bytes INTEGER NOT NULL,
    fast_hits INTEGER NOT NULL,
    slow_hits INTEGER NOT NULL
) STRICT;

CREATE TABLE heads (
    no INTEGER PRIMARY KEY,
    owner TEXT,
    fence INTEGER NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    cursors BLOB NOT NULL,
    settled_count INTEGER NOT NULL,
    settled_bytes INTEGER NOT NULL,
    wake_ms INTEGER,
    state BLOB NOT NULL
) STRICT;

CREATE INDEX heads_awake ON heads (no, wake_ms) WHERE wake_ms IS NOT NULL;

CREATE TABLE intents (
    no INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    lane_no INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX intents_order ON intents (lane_no, priority, seq);

CREATE TABLE results (
    no INTEGER PRIMARY KEY,
    status TEXT NOT NULL,
    settled_ms INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE INDEX results_status ON results (status, no);

CREATE TABLE rows (
    lane_no INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    intent BLOB,
    body BLOB NOT NULL,
    PRIMARY KEY (lane_no, kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE indexes (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (name, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE mailbox (
    id INTEGER PRIMARY KEY,
    lane_no INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE INDEX mailbox_lane ON mailbox (lane_no, id);

CREATE TABLE feed (
    cursor INTEGER PRIMARY KEY,
    lane_no INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    records BLOB NOT NULL
) STRICT;

-- Numbers that must never be handed out twice, even after the rows that bore them are pruned.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    next INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO counters (name, next) VALUES ('intent', 1), ('command', 1), ('feed', 1);
