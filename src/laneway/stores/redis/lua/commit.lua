-- The fenced write of lanes: each commit is compared, guarded and applied by itself.
--
-- KEYS  awake, alarms, feed, ended, results, numbers, places; then for each commit
--       lane, mail, indexes, order; for an account's lane its lock and the key of each word
-- ARGV  channel, sender, how many commits; then for each
--       lane, fence, version, digest, cursors, settled count, settled bytes, wake, state,
--       at, feed, whether it ends intents, how many changes; then for each change
--       sign and type, key (of the lane, or below zero a shared one), member, value; then '',
--       or for an account's lane its owner and how many words (-1: it must not be written),
--       for each word command, size, arguments
-- Answers for each commit 1: applied, 2: it was there already, 0: the lease is lost,
--       -1: this version has other rows, -2: a guard does not hold.

local ARGV = arguments()
local SHARED, OWN = 7, 4
local awake, alarms, feed, numbers = KEYS[1], KEYS[2], KEYS[3], KEYS[6]

local passed = fence_before(numbers)

-- What all commits put into shared keys is written at the end, with one command for each key.
local shared, pending = {}, {}

local function defer(number, first, second, member)
  local words = shared[number]
  if not words then
    words = {}
    shared[number] = words
    pending[number] = {}
  end
  words[#words + 1] = first
  words[#words + 1] = second
  pending[number][member] = true
end

local function exists(base, number, member)
  number = tonumber(number)
  if number > 0 then return call('HEXISTS', KEYS[base + number], member) == 1 end
  if pending[-number] and pending[-number][member] then return true end
  return call('HEXISTS', KEYS[-number], member) == 1
end

-- The intent that an open row names stands before its body.
local function named(value)
  return value and string.match(value, '^([^\n]*)\n') or ''
end

-- The open rows as they will be, of two words on one row the last; and what they were.
local function rows_of(first, last)
  local members, rows = {}, {}
  for i = first, last, 4 do
    local sign = ARGV[i]
    if sign == '+row' or sign == '-row' then
      local member = ARGV[i + 2]
      if rows[member] == nil then members[#members + 1] = member end
      rows[member] = sign == '+row' and ARGV[i + 3] or false
    end
  end
  return members, rows
end

local function count_names(lane, members, rows, held, puts, drops)
  local names, deltas = {}, {}
  local function add(name, by)
    if name == '' then return end
    if not deltas[name] then
      names[#names + 1] = '#' .. name
      deltas[name] = 0
    end
    deltas[name] = deltas[name] + by
  end
  for i, member in ipairs(members) do
    add(named(held[5 + i]), -1)
    add(named(rows[member]), 1)
  end
  if #names == 0 then return end
  local counts = call('HMGET', lane, unpack(names))
  for i, name in ipairs(names) do
    local delta = deltas[string.sub(name, 2)]
    if delta ~= 0 then
      local count = tonumber(counts[i] or '0') + delta
      if count > 0 then
        puts[#puts + 1] = name
        puts[#puts + 1] = whole(count)
      else
        drops[#drops + 1] = name
      end
    end
  end
end

-- What an account's keys show: each command on a key of its own.
local function show(base, at, count)
  for number = 1, count do
    local key, command, last = KEYS[base + number], ARGV[at], at + 1 + tonumber(ARGV[at + 1])
    if command == 'UNLESS' then
      if call('EXISTS', KEYS[base + number - 1]) == 0 then call('DEL', key) end
    elseif last == at + 1 then
      call(command, key)
    end
    for first = at + 2, last, 1000 do
      call(command, key, unpack(ARGV, first, math.min(first + 999, last)))
    end
    at = last + 1
  end
end

local told = {}

local function commit(base, at, changes)
  local lane, name, version = KEYS[base + 1], ARGV[at], ARGV[at + 2]
  local first, last = at + 13, at + 13 + 4 * changes - 1
  local owner, shown = ARGV[last + 1], tonumber(ARGV[last + 2] or '')
  local members, rows = rows_of(first, last)
  local held = call('HMGET', lane, 'fence', 'version', 'digest', 'count', 'wake', unpack(members))
  if held[1] ~= ARGV[at + 1] or tonumber(held[1]) <= passed then return 0 end
  local before = held[2] or '0'
  if before == version then
    if held[3] ~= ARGV[at + 3] then return -1 end
    touch(numbers)
    return 2
  end
  if tonumber(before) + 1 ~= tonumber(version) then return 0 end
  if owner ~= '' and (shown < 0 or call('GET', KEYS[base + 5]) ~= owner) then return 0 end
  for i = first, last, 4 do
    local sign = ARGV[i]
    if sign == '!hash' and exists(base, ARGV[i + 1], ARGV[i + 2]) then return -2 end
    if sign == '?zset' and not call('ZSCORE', KEYS[base + ARGV[i + 1]], ARGV[i + 2]) then return -2 end
  end

  for i = first, last, 4 do
    local sign, number, member, value = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2], ARGV[i + 3]
    if (sign == '+hash' or sign == '!hash') and number < 0 then
      defer(-number, member, value, member)
    elseif sign == '+zset' and number < 0 then
      defer(-number, value, member, member)
    elseif sign == '+hash' or sign == '!hash' then
      call('HSET', KEYS[base + number], member, value)
    elseif sign == '-hash' then
      call('HDEL', KEYS[base + number], member)
    end
  end
  local wake = ARGV[at + 7]
  -- Work that waits never lets a lane sleep; the lane cannot know what came in meanwhile.
  if tonumber(held[4] or '0') > tonumber(ARGV[at + 5]) or call('HLEN', KEYS[base + 2]) > 0 then
    wake = '0'
  end
  local puts = {'version', version, 'digest', ARGV[at + 3], 'cursors', ARGV[at + 4],
    'settled', ARGV[at + 5], 'settled_bytes', ARGV[at + 6], 'wake', wake, 'state', ARGV[at + 8]}
  local drops = {}
  count_names(lane, members, rows, held, puts, drops)
  for _, member in ipairs(members) do
    if rows[member] then
      puts[#puts + 1] = member
      puts[#puts + 1] = rows[member]
    else
      drops[#drops + 1] = member
    end
  end
  many('HSET', lane, puts)
  many('HDEL', lane, drops)
  move_wake(awake, alarms, name, held[5] or '', wake)
  if owner ~= '' then show(base + 5, last + 3, shown) end
  if ARGV[at + 10] ~= '' then
    for _, word in ipairs({name, version, ARGV[at + 9], ARGV[at + 10]}) do told[#told + 1] = word end
  end
  return 1
end

local answers, ended = {}, {}
local base, at = SHARED, 4
for number = 1, tonumber(ARGV[3]) do
  local changes = tonumber(ARGV[at + 12])
  answers[number] = commit(base, at, changes)
  if answers[number] == 1 and ARGV[at + 11] == '1' then ended[#ended + 1] = ARGV[at] end
  at = at + 13 + 4 * changes
  base = base + OWN
  if ARGV[at] == '' then
    at = at + 1
  else
    local shown = tonumber(ARGV[at + 1])
    at = at + 2
    for _ = 1, shown do at = at + 2 + tonumber(ARGV[at + 1]) end
    base = base + 1 + math.max(shown, 0)
  end
end
if shared[4] then many('ZADD', KEYS[4], shared[4]) end
if shared[5] then many('HSET', KEYS[5], shared[5]) end
if shared[7] then many('ZADD', KEYS[7], shared[7]) end
if #told > 0 then
  -- One entry for all commits; it bears the number of its last, so that each has its own.
  local last = call('HINCRBY', numbers, 'feed', #told / 4)
  call('XADD', feed, '0-' .. whole(last), unpack(told))
end
if #ended > 0 then
  call('PUBLISH', ARGV[1], 'ended\n' .. ARGV[2] .. '\n' .. table.concat(ended, '\n'))
end
return answers
