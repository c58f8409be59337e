-- The first shape of the schema. Names of lanes and owners sort by their bytes, as they do in
-- every other store.

-- The clock that leases are counted by. Tests put another one in its place.
CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE TABLE owners (
    owner text COLLATE "C" PRIMARY KEY,
    until_ms bigint NOT NULL,
    -- Someone took a lane from it: it must never beat under this name again.
    dead boolean NOT NULL DEFAULT false
);

-- Tail and head of a lane in one row, so that a group that accepts and commits writes it once.
-- A busy lane's row changes in place while its page has room and no indexed column changes.
CREATE TABLE lanes (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    lane text COLLATE "C" NOT NULL CONSTRAINT lanes_lane UNIQUE,
    seq_next bigint NOT NULL DEFAULT 1,
    accepted_count bigint NOT NULL DEFAULT 0,
    accepted_bytes bigint NOT NULL DEFAULT 0,
    fast_hits bigint NOT NULL DEFAULT 0,
    slow_hits bigint NOT NULL DEFAULT 0,
    owner text COLLATE "C",
    fence bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0,
    digest bytea NOT NULL DEFAULT '',
    cursors bigint[] NOT NULL DEFAULT '{0,0,0,0}',
    settled_count bigint NOT NULL DEFAULT 0,
    settled_bytes bigint NOT NULL DEFAULT 0,
    wake_ms bigint,
    state bytea NOT NULL DEFAULT ''
) WITH (fillfactor = 50);

CREATE INDEX lanes_awake ON lanes (lane, wake_ms) WHERE wake_ms IS NOT NULL;

CREATE TABLE intents (
    id bytea CONSTRAINT intents_id PRIMARY KEY,
    lane_no bigint NOT NULL,
    priority bigint NOT NULL,
    seq bigint NOT NULL,
    body bytea NOT NULL
);

CREATE UNIQUE INDEX intents_order ON intents (lane_no, priority, seq);

CREATE TABLE results (
    intent bytea PRIMARY KEY,
    status text NOT NULL,
    settled_ms bigint NOT NULL,
    body bytea NOT NULL
);

CREATE INDEX results_status ON results (status, intent);
CREATE INDEX results_age ON results (settled_ms);

CREATE TABLE rows (
    lane_no bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    intent bytea,
    body bytea NOT NULL,
    PRIMARY KEY (lane_no, kind, key)
) WITH (fillfactor = 50);

CREATE TABLE indexes (
    name text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    intent text NOT NULL,
    lane text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    status text NOT NULL,
    hash bytea,
    CONSTRAINT indexes_name PRIMARY KEY (name, value)
);

CREATE SEQUENCE commands;

CREATE TABLE mailbox (
    id bigint PRIMARY KEY,
    lane_no bigint NOT NULL,
    body bytea NOT NULL
);

CREATE INDEX mailbox_lane ON mailbox (lane_no, id);

-- A commit's number is taken when its lanes are locked, so that the numbers of one lane's commits
-- rise with its versions; readers stop at the oldest one that still runs.
CREATE TABLE feed (
    commit_no bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    no bigint GENERATED ALWAYS AS IDENTITY,
    lane_no bigint NOT NULL,
    version bigint NOT NULL,
    at_ms bigint NOT NULL,
    records bytea NOT NULL,
    PRIMARY KEY (commit_no, no)
);
