-- Every statement of the store, each under its name. A name ends at the next one.
-- Rows that belong together come as columns of arrays: one statement writes a whole group's.
-- Where a column asks whether a row is there it says LIMIT 1 and not EXISTS, for which PostgreSQL
-- may hash the whole table.

-- name: begin_write
BEGIN ISOLATION LEVEL READ COMMITTED

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY

-- name: commit
COMMIT

-- name: enter_schema
SELECT current_setting('search_path'), set_config('search_path', %(schema)b::text, true),
       set_config('synchronous_commit', CASE current_setting('synchronous_commit')
           WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)

-- name: leave_schema
SELECT set_config('search_path', %(path)b::text, true)

-- name: shape_is_there
SELECT to_regclass(%(shape)b::text) IS NOT NULL

-- name: shape
SELECT version FROM shape

-- name: lock_lanes
SELECT no, lane, seq_next, accepted_count, accepted_bytes, fast_hits, slow_hits, owner, fence,
       version, digest, cursors, settled_count, settled_bytes, wake_ms, state
FROM lanes WHERE lane = ANY(%(lanes)b::text[]) ORDER BY lane FOR UPDATE

-- name: lock_owners
SELECT owner, dead, until_ms >= now_ms() FROM owners
WHERE owner = ANY(%(owners)b::text[])
   OR owner = ANY(ARRAY(SELECT l.owner FROM lanes l WHERE l.lane = ANY(%(lanes)b::text[])))
ORDER BY owner FOR UPDATE

-- name: peers
SELECT owner FROM owners WHERE NOT dead AND until_ms >= now_ms()

-- name: standbys_behind
SELECT count(*) FROM pg_stat_replication r
WHERE coalesce(r.sync_state, CASE current_setting('synchronous_standby_names')
                                 WHEN '' THEN 'async' ELSE 'sync' END) = 'async'
  AND r.application_name IS DISTINCT FROM 'pg_basebackup'
  AND NOT EXISTS (SELECT 1 FROM pg_replication_slots s
                  WHERE s.active_pid = r.pid AND s.slot_type = 'logical')

-- name: waiting_commands
SELECT l.lane, m.id, m.body FROM mailbox m JOIN lanes l ON l.no = m.lane_no
WHERE l.lane = ANY(%(lanes)b::text[]) ORDER BY m.id

-- name: known_intents
SELECT i.id, r.intent IS NOT NULL
FROM intents i LEFT JOIN results r ON r.intent = i.id WHERE i.id = ANY(%(ids)b::bytea[])

-- name: known_indexes
SELECT x.name, x.value, x.intent, x.lane, x.digest, x.status, x.hash
FROM unnest(%(names)b::text[], %(values)b::text[]) AS w(name, value)
JOIN indexes x ON x.name = w.name AND x.value = w.value

-- name: command_numbers
SELECT nextval('commands') FROM generate_series(1, %(count)b::bigint)

-- name: finished
SELECT l.lane, i.id, i.priority, i.seq, i.body, r.body
FROM results r JOIN intents i ON i.id = r.intent JOIN lanes l ON l.no = i.lane_no
WHERE r.settled_ms < %(before)b::bigint
  AND NOT EXISTS (SELECT 1 FROM rows o WHERE o.lane_no = i.lane_no AND o.intent = i.id)
ORDER BY r.settled_ms LIMIT %(limit)b::bigint

-- name: trim_feed
DELETE FROM feed f USING (
    SELECT commit_no, no, at_ms FROM feed ORDER BY commit_no, no LIMIT %(limit)b::bigint
) front
WHERE f.commit_no = front.commit_no AND f.no = front.no
  AND front.at_ms < %(before)b::bigint
RETURNING f.no

-- name: forget_owners
DELETE FROM owners WHERE until_ms < now_ms() - %(age)b::bigint RETURNING owner

-- name: add_lanes
INSERT INTO lanes (lane) SELECT unnest(%(lanes)b::text[]) ORDER BY 1 RETURNING lane, no

-- name: put_lanes
UPDATE lanes SET
    seq_next = u.seq_next, accepted_count = u.accepted_count, accepted_bytes = u.accepted_bytes,
    fast_hits = u.fast_hits, slow_hits = u.slow_hits, owner = u.owner, fence = u.fence,
    version = u.version, digest = u.digest,
    cursors = array_remove(ARRAY[u.c0, u.c1, u.c2, u.c3], NULL),
    settled_count = u.settled_count, settled_bytes = u.settled_bytes, wake_ms = u.wake_ms,
    state = u.state
FROM unnest(
    %(no)b::bigint[], %(seq_next)b::bigint[], %(accepted_count)b::bigint[],
    %(accepted_bytes)b::bigint[], %(fast_hits)b::bigint[], %(slow_hits)b::bigint[],
    %(owner)b::text[], %(fence)b::bigint[], %(version)b::bigint[], %(digest)b::bytea[],
    %(c0)b::bigint[], %(c1)b::bigint[], %(c2)b::bigint[], %(c3)b::bigint[],
    %(settled_count)b::bigint[], %(settled_bytes)b::bigint[], %(wake_ms)b::bigint[],
    %(state)b::bytea[]
) AS u(no, seq_next, accepted_count, accepted_bytes, fast_hits, slow_hits, owner, fence, version,
       digest, c0, c1, c2, c3, settled_count, settled_bytes, wake_ms, state)
WHERE lanes.no = u.no

-- name: add_intents
INSERT INTO intents (id, lane_no, priority, seq, body)
SELECT * FROM unnest(%(id)b::bytea[], %(lane_no)b::bigint[], %(priority)b::bigint[],
                     %(seq)b::bigint[], %(body)b::bytea[])

-- name: add_results
INSERT INTO results (intent, status, settled_ms, body)
SELECT * FROM unnest(%(intent)b::bytea[], %(status)b::text[], %(settled_ms)b::bigint[],
                     %(body)b::bytea[])

-- name: put_rows
INSERT INTO rows (lane_no, kind, key, intent, body)
SELECT * FROM unnest(%(lane_no)b::bigint[], %(kind)b::text[], %(key)b::text[],
                     %(intent)b::bytea[], %(body)b::bytea[])
ON CONFLICT (lane_no, kind, key) DO UPDATE SET intent = excluded.intent, body = excluded.body

-- name: drop_rows
DELETE FROM rows
USING unnest(%(lane_no)b::bigint[], %(kind)b::text[], %(key)b::text[]) AS u(lane_no, kind, key)
WHERE rows.lane_no = u.lane_no AND rows.kind = u.kind AND rows.key = u.key

-- name: add_indexes
INSERT INTO indexes (name, value, intent, lane, digest, status, hash)
SELECT * FROM unnest(%(name)b::text[], %(value)b::text[], %(intent)b::text[], %(lane)b::text[],
                     %(digest)b::bytea[], %(status)b::text[], %(hash)b::bytea[])

-- name: put_indexes
INSERT INTO indexes (name, value, intent, lane, digest, status, hash)
SELECT * FROM unnest(%(name)b::text[], %(value)b::text[], %(intent)b::text[], %(lane)b::text[],
                     %(digest)b::bytea[], %(status)b::text[], %(hash)b::bytea[])
ON CONFLICT (name, value) DO UPDATE SET intent = excluded.intent, lane = excluded.lane,
    digest = excluded.digest, status = excluded.status, hash = excluded.hash

-- name: add_commands
INSERT INTO mailbox (id, lane_no, body)
SELECT * FROM unnest(%(id)b::bigint[], %(lane_no)b::bigint[], %(body)b::bytea[])

-- name: drop_commands
DELETE FROM mailbox USING unnest(%(id)b::bigint[], %(lane_no)b::bigint[]) AS u(id, lane_no)
WHERE mailbox.id = u.id AND mailbox.lane_no = u.lane_no

-- name: add_feed
INSERT INTO feed (lane_no, version, at_ms, records)
SELECT lane_no, version, at_ms, records
FROM unnest(%(lane_no)b::bigint[], %(version)b::bigint[], %(at_ms)b::bigint[],
            %(records)b::bytea[])
    WITH ORDINALITY AS u(lane_no, version, at_ms, records, place) ORDER BY place

-- name: drop_intents
DELETE FROM intents WHERE id = ANY(%(ids)b::bytea[])

-- name: drop_results
DELETE FROM results WHERE intent = ANY(%(ids)b::bytea[])

-- name: put_beats
INSERT INTO owners (owner, until_ms)
SELECT u.owner, now_ms() + u.ttl_ms
FROM unnest(%(owner)b::text[], %(ttl_ms)b::bigint[]) AS u(owner, ttl_ms) ORDER BY 1
ON CONFLICT (owner) DO UPDATE SET until_ms = excluded.until_ms WHERE NOT owners.dead

-- name: drop_owners
DELETE FROM owners WHERE owner = ANY(%(owners)b::text[]) AND NOT dead

-- name: bury
INSERT INTO owners (owner, until_ms, dead)
SELECT u.owner, now_ms(), true FROM unnest(%(owners)b::text[]) AS u(owner) ORDER BY 1
ON CONFLICT (owner) DO UPDATE SET until_ms = excluded.until_ms, dead = true

-- name: notify
SELECT pg_notify(%(channel)b::text, %(payload)b::text)

-- name: ready
SELECT lane FROM lanes WHERE wake_ms IS NOT NULL AND wake_ms <= %(now)b::bigint
  AND lane > %(after)b::text ORDER BY lane LIMIT %(limit)b::bigint

-- name: lane_view
SELECT lane, seq_next, accepted_count, accepted_bytes, fast_hits, slow_hits, owner, fence, version,
       digest, cursors, settled_count, settled_bytes, wake_ms, state
FROM lanes WHERE lane = %(lane)b::text

-- name: lane_views
SELECT lane, seq_next, accepted_count, accepted_bytes, fast_hits, slow_hits, owner, fence, version,
       digest, cursors, settled_count, settled_bytes, wake_ms, state
FROM lanes WHERE lane > %(after)b::text ORDER BY lane LIMIT %(limit)b::bigint

-- name: open_rows
SELECT o.kind, o.key, o.intent, o.body FROM rows o
WHERE o.lane_no = (SELECT l.no FROM lanes l WHERE l.lane = %(lane)b::text)
ORDER BY o.kind, o.key

-- name: named_intents
SELECT i.id, i.priority, i.seq, i.body FROM intents i
WHERE i.id = ANY(ARRAY(
    SELECT o.intent FROM rows o
    WHERE o.lane_no = (SELECT l.no FROM lanes l WHERE l.lane = %(lane)b::text)
      AND o.intent IS NOT NULL
)) ORDER BY i.id

-- name: mailbox
SELECT l.no, m.body FROM lanes l LEFT JOIN mailbox m ON m.lane_no = l.no
WHERE l.lane = %(lane)b::text ORDER BY m.id

-- name: backlog
SELECT l.no, b.id, b.priority, b.seq, b.body FROM lanes l
LEFT JOIN LATERAL (
    SELECT i.id, i.priority, i.seq, i.body
    FROM unnest(%(after)b::bigint[]) WITH ORDINALITY AS c(seq, place)
    CROSS JOIN LATERAL (
        SELECT id, priority, seq, body FROM intents w
        WHERE w.lane_no = l.no AND w.priority = c.place - 1 AND w.seq > c.seq
          AND NOT EXISTS (SELECT 1 FROM results r WHERE r.intent = w.id)
        ORDER BY w.seq LIMIT %(limit)b::bigint
    ) i
    ORDER BY i.priority, i.seq LIMIT %(limit)b::bigint
) b ON true
WHERE l.lane = %(lane)b::text ORDER BY b.priority, b.seq

-- name: oldest
SELECT i.id, i.priority, i.seq, i.body FROM lanes l
CROSS JOIN generate_series(0, 3) AS c(priority)
CROSS JOIN LATERAL (
    SELECT id, priority, seq, body FROM intents w
    WHERE w.lane_no = l.no AND w.priority = c.priority
      AND w.seq > coalesce(l.cursors[c.priority + 1], 0)
      AND NOT EXISTS (SELECT 1 FROM results r WHERE r.intent = w.id)
    ORDER BY w.seq LIMIT 1
) i
WHERE l.lane = %(lane)b::text ORDER BY i.priority LIMIT 1

-- name: intent
SELECT l.lane, i.id, i.priority, i.seq, i.body, r.body,
       (SELECT true FROM rows o WHERE o.lane_no = i.lane_no AND o.intent = i.id LIMIT 1)
FROM intents i JOIN lanes l ON l.no = i.lane_no LEFT JOIN results r ON r.intent = i.id
WHERE i.id = %(id)b::bytea

-- name: answers
SELECT body FROM results WHERE intent = ANY (%(ids)b::bytea[])

-- name: index
SELECT name, value, intent, lane, digest, status, hash FROM indexes
WHERE name = %(name)b::text AND value = %(value)b::text

-- name: history
WITH begin AS (
    SELECT coalesce(max(priority), 0) AS priority, coalesce(max(seq), 0) AS seq
    FROM intents WHERE id = %(after)b::bytea
)
SELECT l.lane, i.id, i.priority, i.seq, i.body, r.body,
       (SELECT true FROM rows o WHERE o.lane_no = i.lane_no AND o.intent = i.id LIMIT 1)
FROM begin JOIN lanes l ON l.lane = %(lane)b::text
CROSS JOIN LATERAL (
    (SELECT w.* FROM intents w
     WHERE w.lane_no = l.no AND w.priority = begin.priority AND w.seq > begin.seq
     ORDER BY w.seq LIMIT %(limit)b::bigint)
    UNION ALL
    (SELECT w.* FROM intents w WHERE w.lane_no = l.no AND w.priority > begin.priority
     ORDER BY w.priority, w.seq LIMIT %(limit)b::bigint)
) i
LEFT JOIN results r ON r.intent = i.id
ORDER BY i.priority, i.seq LIMIT %(limit)b::bigint

-- name: page_final
SELECT l.lane, i.id, i.priority, i.seq, i.body, r.body,
       (SELECT true FROM rows o WHERE o.lane_no = i.lane_no AND o.intent = i.id LIMIT 1)
FROM results r JOIN intents i ON i.id = r.intent JOIN lanes l ON l.no = i.lane_no
WHERE r.status = %(status)b::text AND r.intent > %(after)b::bytea
ORDER BY r.intent LIMIT %(limit)b::bigint

-- name: page_open
SELECT l.lane, i.id, i.priority, i.seq, i.body, NULL, true
FROM (
    SELECT DISTINCT o.intent FROM rows o
    WHERE o.intent > %(after)b::bytea
      AND NOT EXISTS (SELECT 1 FROM results r WHERE r.intent = o.intent)
    ORDER BY o.intent LIMIT %(limit)b::bigint
) named
JOIN intents i ON i.id = named.intent JOIN lanes l ON l.no = i.lane_no ORDER BY i.id

-- name: page_queued
WITH place AS (
    SELECT l.lane, i.priority, i.seq FROM intents i JOIN lanes l ON l.no = i.lane_no
    WHERE i.id = %(after)b::bytea
    UNION ALL
    SELECT x.lane, 0, 0 FROM indexes x WHERE x.name = 'id' AND x.value = %(after_id)b::text
), begin AS (
    SELECT coalesce(max(lane), '') AS lane, coalesce(max(priority), 0) AS priority,
           coalesce(max(seq), 0) AS seq FROM place
)
SELECT l.lane, i.id, i.priority, i.seq, i.body, NULL, false
FROM begin
JOIN lanes l ON l.wake_ms IS NOT NULL AND l.lane >= begin.lane
CROSS JOIN generate_series(0, 3) AS c(priority)
CROSS JOIN LATERAL (
    SELECT id, priority, seq, body FROM intents w
    WHERE w.lane_no = l.no AND w.priority = c.priority
      AND w.seq > greatest(
          coalesce(l.cursors[c.priority + 1], 0),
          CASE WHEN l.lane = begin.lane AND c.priority = begin.priority THEN begin.seq END
      )
      AND NOT EXISTS (SELECT 1 FROM results r WHERE r.intent = w.id)
    ORDER BY w.seq LIMIT %(limit)b::bigint
) i
WHERE l.lane > begin.lane OR c.priority >= begin.priority
ORDER BY l.lane, i.priority, i.seq LIMIT %(limit)b::bigint

-- name: feed_end
SELECT f.commit_no, f.no FROM feed f
WHERE f.commit_no < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
ORDER BY f.commit_no DESC, f.no DESC LIMIT 1

-- name: feed
SELECT f.commit_no, f.no, l.lane, f.version, f.at_ms, f.records
FROM feed f JOIN lanes l ON l.no = f.lane_no
WHERE (f.commit_no, f.no) > (%(commit_no)b::bigint, %(no)b::bigint)
  AND f.commit_no < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
ORDER BY f.commit_no, f.no LIMIT %(limit)b::bigint
