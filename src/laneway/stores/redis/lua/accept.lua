-- The unfenced door: gives each arrival its place in its lane, or says why not.
--
-- KEYS  awake, alarms, lanes, keys, intents, left, numbers; then for each lane lane, order; then,
--       if any is for an account, for each arrival pending, its hash, the registry, jobs
-- ARGV  channel, sender, 1 if keys are reserved here too, how many arrivals; then for each
--       number of its lane, lane, id, body, size, priority, count limit, bytes limit, fast size,
--       1 if fresh, key, digest; then, if any is for an account, for each arrival its request
--       (or '' if it is for another lane), when, queue, job
-- Answers for each arrival {'accepted', seq, depth, bytes, fast}, {'replayed', id},
--       {'conflict', id}, {'full', bound, limit} or {'bug', id}.

local ARGV = arguments()
local SHARED, OWN, EACH, FIRST = 7, 2, 12, 5
local awake, alarms, lanes, keys = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local intents, left, numbers = KEYS[5], KEYS[6], KEYS[7]
local here, count = ARGV[3] == '1', tonumber(ARGV[4])

local function ids_known(key)
  local ids = {}
  for number = 1, count do ids[number] = ARGV[FIRST + (number - 1) * EACH + 2] end
  return call('HMGET', key, unpack(ids))
end

local kept, gone = ids_known(intents), ids_known(left)

local states, order_of_lanes = {}, {}

local function state_of(number, name)
  local state = states[number]
  if state then return state end
  local base = SHARED + (number - 1) * OWN
  local held = call('HMGET', KEYS[base + 1], 'seq', 'count', 'bytes', 'fast', 'slow', 'settled',
    'settled_bytes', 'wake')
  state = {lane = KEYS[base + 1], order = KEYS[base + 2], name = name, places = {},
    wake = held[8] or ''}
  for i, field in ipairs({'seq', 'count', 'bytes', 'fast', 'slow', 'settled', 'settled_bytes'}) do
    state[field] = tonumber(held[i] or '0')
  end
  states[number] = state
  order_of_lanes[#order_of_lanes + 1] = number
  return state
end

local added, seen, reserved, touched = {}, {}, {}, false

-- What an account's keys show of an arrival.
local letters = FIRST + count * EACH
local letter_keys = #KEYS - 4 * count

local waiting, registered, registry = {}, {}, nil

local function show(number, id, lane, is_first)
  local at, base = letters + (number - 1) * 4, letter_keys + (number - 1) * 4
  if (ARGV[at] or '') == '' then return end
  call('HSET', KEYS[base + 2], 'user_request', ARGV[at], 'status', 'pending', 'created_at',
    ARGV[at + 1])
  local words = waiting[KEYS[base + 1]] or {}
  waiting[KEYS[base + 1]] = words
  words[#words + 1] = ARGV[at + 1]
  words[#words + 1] = id
  registry = KEYS[base + 3]
  registered[#registered + 1] = id
  registered[#registered + 1] = ARGV[at + 2]
  if is_first then call('HSET', KEYS[base + 4], ARGV[at + 3], lane) end
end

local function accept(number, at)
  local id, size = ARGV[at + 2], tonumber(ARGV[at + 4])
  local key, digest = ARGV[at + 10], ARGV[at + 11]
  if kept[number] or gone[number] or seen[id] then
    touched = true
    return {ARGV[at + 9] == '1' and 'bug' or 'replayed', id}
  end
  if here and key ~= '' then
    local taken = reserved[key] or call('HGET', keys, key)
    if taken then
      local intent, _, body = string.match(taken, '^([^\n]*)\n([^\n]*)\n(.*)$')
      touched = true
      return {body == digest and 'replayed' or 'conflict', intent}
    end
  end
  local state = state_of(tonumber(ARGV[at]), ARGV[at + 1])
  local depth = state.count - state.settled
  local unsettled = state.bytes - state.settled_bytes
  if ARGV[at + 6] ~= '' and depth >= tonumber(ARGV[at + 6]) then
    return {'full', 'intents', ARGV[at + 6]}
  end
  if ARGV[at + 7] ~= '' and unsettled + size > tonumber(ARGV[at + 7]) then
    return {'full', 'bytes', ARGV[at + 7]}
  end
  local fast = depth < tonumber(ARGV[at + 8])
  state.seq = state.seq + 1
  state.count = state.count + 1
  state.bytes = state.bytes + size
  if fast then state.fast = state.fast + 1 else state.slow = state.slow + 1 end
  local places = state.places
  places[#places + 1] = whole(tonumber(ARGV[at + 5]) * 281474976710656 + state.seq)
  places[#places + 1] = id
  added[#added + 1] = id
  added[#added + 1] = ARGV[at + 3]
  seen[id] = true
  show(number, id, ARGV[at + 1], state.seq == 1)
  if here and key ~= '' then reserved[key] = id .. '\n' .. ARGV[at + 1] .. '\n' .. digest end
  return {'accepted', state.seq, depth + 1, unsettled + size, fast and 1 or 0}
end

local answers, woken = {}, {}
for number = 1, count do
  answers[number] = accept(number, FIRST + (number - 1) * EACH)
end
for _, number in ipairs(order_of_lanes) do
  local state = states[number]
  local places = #state.places / 2
  if places > 0 then
    if state.seq == places then call('ZADD', lanes, 0, state.name) end
    call('HSET', state.lane, 'seq', whole(state.seq), 'count', whole(state.count), 'bytes',
      whole(state.bytes), 'fast', whole(state.fast), 'slow', whole(state.slow), 'wake', '0')
    call('ZADD', state.order, unpack(state.places))
    move_wake(awake, alarms, state.name, state.wake, '0')
    woken[#woken + 1] = state.name
  end
end
many('HSET', intents, added)
if registry then many('HSET', registry, registered) end
for pending, words in pairs(waiting) do many('ZADD', pending, words) end
for key, value in pairs(reserved) do call('HSET', keys, key, value) end
if touched then touch(numbers) end
if #woken > 0 then
  call('PUBLISH', ARGV[1], 'woken\n' .. ARGV[2] .. '\n' .. table.concat(woken, '\n'))
end
return answers
