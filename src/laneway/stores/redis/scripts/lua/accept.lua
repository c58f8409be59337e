-- The unfenced door: gives each arrival its place in its lane, or says why not.
--
-- KEYS  awake, alarms, lanes, keys, intents, left, numbers; then for each lane lane, order, and if
--       it has a layout waiting, registry, jobs; then for each arrival of such a lane its hash
-- ARGV  channel, sender, 1 if keys are reserved here too, how many terms, how many arrivals, how
--       many keys before the hashes, how many words show an arrival; then terms, which many
--       arrivals of a lane have in common: how many keys before the lane's, lane, priority, 1 if
--       fresh, count limit, bytes limit, fast size, and if it has a layout what the registry says
--       and the lane's job, else '' and ''; then for each arrival which terms (from 0), id, body,
--       key, digest, and if its lane has a layout its time and the fields of its hash
-- Answers for each arrival {'accepted', seq, depth, bytes, fast}, {'replayed', id},
--       {'conflict', id}, {'full', bound, limit} or {'bug', id}.

local ARGV = arguments()
local FIRST, TERMS, EACH = 8, 9, 5 + tonumber(ARGV[7])
local awake, alarms, lanes, keys = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local intents, left, numbers = KEYS[5], KEYS[6], KEYS[7]
local here, count = ARGV[3] == '1', tonumber(ARGV[5])
local arrivals = FIRST + TERMS * tonumber(ARGV[4])

local function ids_known(key)
  local ids = {}
  for number = 1, count do ids[number] = ARGV[arrivals + (number - 1) * EACH + 1] end
  return call('HMGET', key, unpack(ids))
end

local kept, gone = ids_known(intents), ids_known(left)

local states, order_of_lanes = {}, {}

local function state_of(place, name)
  local state = states[place]
  if state then return state end
  local held = call('HMGET', KEYS[place + 1], 'seq', 'count', 'bytes', 'fast', 'slow', 'settled',
    'settled_bytes', 'wake')
  state = {lane = KEYS[place + 1], order = KEYS[place + 2], name = name, places = {},
    wake = held[8] or '', waiting = {}}
  for i, field in ipairs({'seq', 'count', 'bytes', 'fast', 'slow', 'settled', 'settled_bytes'}) do
    state[field] = tonumber(held[i] or '0')
  end
  states[place] = state
  order_of_lanes[#order_of_lanes + 1] = place
  return state
end

local added, seen, reserved, touched = {}, {}, {}, false

-- What a lane's layout shows of an arrival.
local registered, registry = {}, nil

local function show(hash, id, at, place, state, registers, job)
  call('HSET', hash, unpack(ARGV, at + 6, at + EACH - 1))
  local words = state.waiting
  words[#words + 1] = ARGV[at + 5]
  words[#words + 1] = id
  registry = KEYS[place + 4]
  registered[#registered + 1] = id
  registered[#registered + 1] = registers
  if state.seq == 1 then call('HSET', KEYS[place + 5], job, state.name) end
end

local function accept(number, at, terms, hash)
  local id, body, key, digest = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local count_max, bytes_max = ARGV[terms + 4], ARGV[terms + 5]
  if kept[number] or gone[number] or seen[id] then
    touched = true
    return {ARGV[terms + 3] == '1' and 'bug' or 'replayed', id}
  end
  if here and key ~= '' then
    local taken = reserved[key] or call('HGET', keys, key)
    if taken then
      local intent, _, body = string.match(taken, '^([^\n]*)\n([^\n]*)\n(.*)$')
      touched = true
      return {body == digest and 'replayed' or 'conflict', intent}
    end
  end
  local place = tonumber(ARGV[terms])
  local state = state_of(place, ARGV[terms + 1])
  -- The size of an intent stands before its body.
  local size = tonumber(string.match(body, '^%d+'))
  local depth = state.count - state.settled
  local unsettled = state.bytes - state.settled_bytes
  if count_max ~= '' and depth >= tonumber(count_max) then
    return {'full', 'intents', count_max}
  end
  if bytes_max ~= '' and unsettled + size > tonumber(bytes_max) then
    return {'full', 'bytes', bytes_max}
  end
  local fast = depth < tonumber(ARGV[terms + 6])
  state.seq = state.seq + 1
  state.count = state.count + 1
  state.bytes = state.bytes + size
  if fast then state.fast = state.fast + 1 else state.slow = state.slow + 1 end
  local places = state.places
  places[#places + 1] = whole(tonumber(ARGV[terms + 2]) * 281474976710656 + state.seq)
  places[#places + 1] = id
  added[#added + 1] = id
  added[#added + 1] = body
  seen[id] = true
  if hash then show(hash, id, at, place, state, ARGV[terms + 7], ARGV[terms + 8]) end
  if here and key ~= '' then reserved[key] = id .. '\n' .. state.name .. '\n' .. digest end
  return {'accepted', state.seq, depth + 1, unsettled + size, fast and 1 or 0}
end

local answers, woken, hashes = {}, {}, tonumber(ARGV[6])
for number = 1, count do
  local at = arrivals + (number - 1) * EACH
  local terms, hash = FIRST + TERMS * tonumber(ARGV[at]), nil
  if ARGV[terms + 7] ~= '' then
    hashes = hashes + 1
    hash = KEYS[hashes]
  end
  answers[number] = accept(number, at, terms, hash)
end
for _, place in ipairs(order_of_lanes) do
  local state = states[place]
  local places = #state.places / 2
  if places > 0 then
    if state.seq == places then call('ZADD', lanes, 0, state.name) end
    call('HSET', state.lane, 'seq', whole(state.seq), 'count', whole(state.count), 'bytes',
      whole(state.bytes), 'fast', whole(state.fast), 'slow', whole(state.slow), 'wake', '0')
    call('ZADD', state.order, unpack(state.places))
    many('ZADD', KEYS[place + 3], state.waiting)
    move_wake(awake, alarms, state.name, state.wake, '0')
    woken[#woken + 1] = state.name
  end
end
many('HSET', intents, added)
if registry then many('HSET', registry, registered) end
for key, value in pairs(reserved) do call('HSET', keys, key, value) end
if touched then touch(numbers) end
if #woken > 0 then
  call('PUBLISH', ARGV[1], 'woken\n' .. ARGV[2] .. '\n' .. table.concat(woken, '\n'))
end
return answers
