-- The unfenced door: gives each arrival its place in its lane, or says why not.
--
-- KEYS  awake, alarms, lanes, homes, keys; then for each lane head, intents, order, left
-- ARGV  channel, sender, 1 if ids and keys are reserved here too, how many arrivals; then for each
--       number of its lane, lane, id, body, size, priority, count limit, bytes limit, fast size,
--       1 if fresh, key, digest
-- Answers for each arrival {'accepted', seq, depth, bytes, fast}, {'replayed', id},
--       {'conflict', id}, {'full', bound, limit} or {'bug', id}.

local SHARED, OWN, EACH = 5, 4, 12
local awake, alarms, lanes, homes, keys = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local here = ARGV[3] == '1'

-- What is known is written again, so that a WAIT behind it waits for what was accepted before.
local function known(head, intents, left, id)
  if here then
    local home = call('HGET', homes, id)
    return home and call('HSET', homes, id, home)
  end
  local kept = call('HEXISTS', intents, id) == 1 or call('HEXISTS', left, id) == 1
  return kept and call('HINCRBY', head, 'seq', 0)
end

local function accept(at)
  local base = SHARED + (tonumber(ARGV[at]) - 1) * OWN
  local head, intents, order, left = KEYS[base + 1], KEYS[base + 2], KEYS[base + 3], KEYS[base + 4]
  local lane, id, size = ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 4])
  local key, digest = ARGV[at + 10], ARGV[at + 11]
  if known(head, intents, left, id) then
    return {ARGV[at + 9] == '1' and 'bug' or 'replayed', id}
  end
  if here and key ~= '' then
    local taken = call('HGET', keys, key)
    if taken then
      local intent, _, body = string.match(taken, '^([^\n]*)\n([^\n]*)\n(.*)$')
      call('HSET', keys, key, taken)
      return {body == digest and 'replayed' or 'conflict', intent}
    end
  end
  local held = call('HMGET', head, 'seq', 'count', 'bytes', 'settled', 'settled_bytes', 'wake')
  local count, bytes = tonumber(held[2] or '0'), tonumber(held[3] or '0')
  local depth = count - tonumber(held[4] or '0')
  local unsettled = bytes - tonumber(held[5] or '0')
  if ARGV[at + 6] ~= '' and depth >= tonumber(ARGV[at + 6]) then
    return {'full', 'intents', ARGV[at + 6]}
  end
  if ARGV[at + 7] ~= '' and unsettled + size > tonumber(ARGV[at + 7]) then
    return {'full', 'bytes', ARGV[at + 7]}
  end
  local seq = tonumber(held[1] or '0') + 1
  local fast = depth < tonumber(ARGV[at + 8])
  if seq == 1 then call('ZADD', lanes, 0, lane) end
  call('HSET', head, 'seq', whole(seq), 'count', whole(count + 1), 'bytes', whole(bytes + size))
  call('HINCRBY', head, fast and 'fast' or 'slow', 1)
  call('HSET', intents, id, ARGV[at + 3])
  call('ZADD', order, whole(tonumber(ARGV[at + 5]) * 281474976710656 + seq), id)
  if here then
    call('HSET', homes, id, lane)
    if key ~= '' then call('HSET', keys, key, id .. '\n' .. lane .. '\n' .. digest) end
  end
  set_wake(head, awake, alarms, lane, held[6] or '', '0')
  return {'accepted', seq, depth + 1, unsettled + size, fast and 1 or 0}
end

local answers, woken, seen = {}, {}, {}
for number = 1, tonumber(ARGV[4]) do
  local at = 5 + (number - 1) * EACH
  answers[number] = accept(at)
  local lane = ARGV[at + 1]
  if answers[number][1] == 'accepted' and not seen[lane] then
    seen[lane] = true
    woken[#woken + 1] = lane
  end
end
if #woken > 0 then
  call('PUBLISH', ARGV[1], 'woken\n' .. ARGV[2] .. '\n' .. table.concat(woken, '\n'))
end
return answers
