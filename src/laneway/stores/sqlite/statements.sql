-- Every statement of the store, each under its name. A name ends at the next one.

-- name: counters
SELECT c.name, max(c.next, CASE c.name
    WHEN 'intent' THEN (SELECT coalesce(max(no), 0) + 1 FROM intents)
    WHEN 'feed' THEN (SELECT coalesce(max(cursor), 0) + 1 FROM feed)
    ELSE 0 END)
FROM counters c
UNION ALL SELECT 'lane', coalesce(max(no), 0) + 1 FROM lanes

-- name: put_counter
UPDATE counters SET next = ? WHERE name = ?

-- name: add_lane
INSERT INTO lanes (no, lane, seq_next, accepted_count, accepted_bytes, fast_hits, slow_hits)
VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: put_tail
UPDATE lanes SET seq_next = ?, accepted_count = ?, accepted_bytes = ?, fast_hits = ?,
       slow_hits = ? WHERE no = ?

-- name: add_head
INSERT INTO heads (owner, fence, version, digest, cursors, settled_count, settled_bytes, state, no)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: put_head
UPDATE heads SET owner = ?, fence = ?, version = ?, digest = ?, cursors = ?, settled_count = ?,
       settled_bytes = ?, state = ? WHERE no = ?

-- name: put_wake
UPDATE heads SET wake_ms = ? WHERE no = ?

-- name: add_intent
INSERT INTO intents (no, id, lane_no, priority, seq, body) VALUES (?, ?, ?, ?, ?, ?)

-- name: knows_intent
SELECT 1 FROM intents WHERE id = ?

-- name: add_result
INSERT INTO results (no, status, settled_ms, body)
SELECT no, ?, ?, ? FROM intents WHERE id = ?

-- name: add_result_at
INSERT INTO results (no, status, settled_ms, body) VALUES (?, ?, ?, ?)

-- name: put_row
INSERT OR REPLACE INTO rows (lane_no, kind, key, intent, body) VALUES (?, ?, ?, ?, ?)

-- name: drop_row
DELETE FROM rows WHERE lane_no = ? AND kind = ? AND key = ?

-- name: drop_rows
DELETE FROM rows WHERE lane_no = ? AND kind = ? AND key IN (?)

-- name: put_index
INSERT OR REPLACE INTO indexes (name, value, body) VALUES (?, ?, ?)

-- name: put_pointer
INSERT OR REPLACE INTO pointers (stretch, name, value, no)
SELECT no / 1024, ?, ?, no FROM intents WHERE id = ?

-- name: put_pointer_at
INSERT OR REPLACE INTO pointers (stretch, name, value, no) VALUES (? / 1024, ?, ?, ?)

-- name: pointer
WITH RECURSIVE stretches (stretch) AS (
    SELECT max(no) / 1024 FROM intents
    UNION ALL
    SELECT stretch - 1 FROM stretches WHERE stretch > (SELECT min(no) / 1024 FROM intents)
)
SELECT i.id, l.lane FROM stretches AS s
CROSS JOIN pointers AS p ON p.stretch = s.stretch AND p.name = ?1 AND p.value = ?2
JOIN intents AS i ON i.no = p.no
JOIN lanes AS l ON l.no = i.lane_no
LIMIT 1

-- name: drop_pointers
DELETE FROM pointers WHERE stretch < (SELECT min(no) / 1024 FROM intents)

-- name: index
SELECT body FROM indexes WHERE name = ? AND value = ?

-- name: add_command
INSERT INTO mailbox (id, lane_no, body) VALUES (?, ?, ?)

-- name: drop_command
DELETE FROM mailbox WHERE id = ? AND lane_no = ?

-- name: add_feed
INSERT INTO feed (cursor, lane_no, version, at_ms, records) VALUES (?, ?, ?, ?, ?)

-- name: ready
SELECT l.lane FROM heads h JOIN lanes l ON l.no = h.no
WHERE h.wake_ms IS NOT NULL AND h.wake_ms <= ?1
  AND h.no > coalesce((SELECT no FROM lanes WHERE lane = ?2), 0)
ORDER BY h.no LIMIT ?3

-- name: open_rows
SELECT kind, key, intent, body FROM rows WHERE lane_no = ? ORDER BY kind, key

-- name: named_intents
SELECT i.id, i.priority, i.seq, i.body FROM intents i
WHERE i.id IN (SELECT intent FROM rows WHERE lane_no = ? AND intent IS NOT NULL) ORDER BY i.id

-- name: mailbox
SELECT body FROM mailbox WHERE lane_no = ? ORDER BY id

-- name: backlog
SELECT i.id, i.priority, i.seq, i.body FROM intents i
WHERE i.lane_no = ?1 AND i.priority = ?2 AND i.seq > ?3
  AND NOT EXISTS (SELECT 1 FROM results r WHERE r.no = i.no)
ORDER BY i.seq LIMIT ?4

-- name: lane_no
SELECT no FROM lanes WHERE lane = ?

-- name: intent
SELECT l.lane, i.id, i.priority, i.seq, i.body, r.body,
       EXISTS (SELECT 1 FROM rows o WHERE o.lane_no = i.lane_no AND o.intent = i.id)
FROM intents i JOIN lanes l ON l.no = i.lane_no LEFT JOIN results r ON r.no = i.no
WHERE i.id = ?

-- name: answer
SELECT r.body FROM intents i JOIN results r ON r.no = i.no WHERE i.id = ?

-- name: history
SELECT i.id, i.priority, i.seq, i.body, r.body,
       EXISTS (SELECT 1 FROM rows o WHERE o.lane_no = i.lane_no AND o.intent = i.id)
FROM intents i LEFT JOIN results r ON r.no = i.no
WHERE i.lane_no = ?1 AND (i.priority, i.seq) > (?2, ?3)
ORDER BY i.priority, i.seq LIMIT ?4

-- name: place
SELECT no, lane_no, priority, seq FROM intents WHERE id = ?

-- name: place_near
SELECT coalesce(min(no) - 1, 9223372036854775807)
FROM (SELECT no FROM intents WHERE id > ?1 ORDER BY id LIMIT ?2)

-- name: lane_load
SELECT l.lane, l.seq_next, l.accepted_count, l.accepted_bytes, l.fast_hits, l.slow_hits,
       h.owner, h.fence, h.version, h.digest, h.cursors, h.settled_count, h.settled_bytes,
       h.wake_ms, h.state, l.no, EXISTS (SELECT 1 FROM mailbox m WHERE m.lane_no = l.no)
FROM lanes l JOIN heads h ON h.no = l.no WHERE l.lane = ?

-- name: lane_views
SELECT l.lane, l.seq_next, l.accepted_count, l.accepted_bytes, l.fast_hits, l.slow_hits,
       h.owner, h.fence, h.version, h.digest, h.cursors, h.settled_count, h.settled_bytes,
       h.wake_ms, h.state
FROM lanes l JOIN heads h ON h.no = l.no WHERE l.lane > ? ORDER BY l.lane LIMIT ?

-- name: page_final
SELECT i.id FROM results r JOIN intents i ON i.no = r.no
WHERE r.status = ?1 AND r.no > ?2 ORDER BY r.no LIMIT ?3

-- name: page_open
SELECT DISTINCT i.id FROM rows o JOIN intents i ON i.id = o.intent
WHERE o.intent IS NOT NULL AND i.no > ?1
  AND NOT EXISTS (SELECT 1 FROM results r WHERE r.no = i.no)
ORDER BY i.no LIMIT ?2

-- name: awake_lanes
SELECT h.no, l.lane, h.cursors FROM heads h JOIN lanes l ON l.no = h.no
WHERE h.wake_ms IS NOT NULL AND h.no >= ? ORDER BY h.no

-- name: feed
SELECT f.cursor, l.lane, f.version, f.at_ms, f.records
FROM feed f JOIN lanes l ON l.no = f.lane_no WHERE f.cursor > ? ORDER BY f.cursor LIMIT ?

-- name: results_after
SELECT r.no, r.settled_ms FROM results r WHERE r.no > ? ORDER BY r.no LIMIT ?

-- name: finished
SELECT l.lane, i.id, i.priority, i.seq, i.body, r.body
FROM results r JOIN intents i ON i.no = r.no JOIN lanes l ON l.no = i.lane_no
WHERE r.no = ?
  AND NOT EXISTS (SELECT 1 FROM rows o WHERE o.lane_no = i.lane_no AND o.intent = i.id)

-- name: drop_result
DELETE FROM results WHERE no = ?

-- name: drop_intent
DELETE FROM intents WHERE no = ?

-- name: feed_end
SELECT coalesce(max(cursor), 0) FROM feed

-- name: feed_front
SELECT cursor, at_ms FROM feed ORDER BY cursor LIMIT ?

-- name: drop_feed
DELETE FROM feed WHERE cursor = ?

-- name: is_final
SELECT 1 FROM results r JOIN intents i ON i.no = r.no WHERE i.id = ?

-- name: backlog_untouched
SELECT i.id, i.priority, i.seq, i.body FROM intents i
WHERE i.lane_no = ?1 AND i.priority >= ?2
  AND NOT EXISTS (SELECT 1 FROM results r WHERE r.no = i.no)
ORDER BY i.priority, i.seq LIMIT ?3
