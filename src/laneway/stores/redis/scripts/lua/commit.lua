-- The fenced write of lanes: each commit is compared, guarded and applied by itself.
--
-- KEYS  awake, alarms, feed, ended, results, numbers, places; then for each commit
--       lane, mail, indexes, order; if it has a layout its lock and the keys of its commands
-- ARGV  channel, sender, how many commits; then for each
--       lane, fence, version, digest, cursors, settled count, settled bytes, wake, state,
--       at, feed, whether it ends intents, how many words its changes are; then '', 0 and 0, or
--       if it has a layout its owner, how many keys its commands have (-1: it must not be
--       written) and how many words they are; then for each change
--       sign and type, key (of the lane, or below zero a shared one), how many members, members,
--       and a value for each if it puts them; then for each command
--       its name, how many keys, how many words are the same for all of them, how many are each
--       key's own, words
-- Answers for each commit 1: applied, 2: it was there already, 0: the lease is lost,
--       -1: this version has other rows, -2: a guard does not hold.

local ARGV = arguments()
local SHARED, OWN, HEAD = 7, 4, 16
local awake, alarms, feed, numbers = KEYS[1], KEYS[2], KEYS[3], KEYS[6]

local passed = fence_before(numbers)

-- What all commits put into shared keys is written at the end, with one command for each key.
local shared, pending = {[4] = {}, [5] = {}, [7] = {}}, {[5] = {}}

-- One question about many arguments; the answers one after the other.
local function read(command, key, first, last)
  if last - first < 1000 then return call(command, key, unpack(ARGV, first, last)) end
  local found = {}
  for from = first, last, 1000 do
    local part = call(command, key, unpack(ARGV, from, math.min(from + 999, last)))
    for i = 1, #part do found[#found + 1] = part[i] end
  end
  return found
end

-- One command with many arguments.
local function write(command, key, first, last)
  for from = first, last, 1000 do
    call(command, key, unpack(ARGV, from, math.min(from + 999, last)))
  end
end

-- Changes that bring a score or value for each member.
local VALUED = {['+row'] = true, ['+hash'] = true, ['!hash'] = true, ['+zset'] = true}

local function changes_of(base, at, last)
  local found = {}
  while at <= last do
    local sign, number, count = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    found[#found + 1] = {sign = sign, shared = number < 0 and -number, count = count,
      key = number < 0 and KEYS[-number] or KEYS[base + number],
      first = at + 3, last = at + 2 + count}
    at = at + 3 + (VALUED[sign] and 2 or 1) * count
  end
  return found
end

-- Whether all that must be new is, and all that must be there.
local function holds(changes)
  for _, one in ipairs(changes) do
    if one.sign == '?zset' then
      for _, score in ipairs(read('ZMSCORE', one.key, one.first, one.last)) do
        if not score then return false end
      end
    elseif one.sign == '!hash' then
      for _, value in ipairs(read('HMGET', one.key, one.first, one.last)) do
        if value then return false end
      end
      if one.shared then
        for i = one.first, one.last do
          if pending[one.shared][ARGV[i]] then return false end
        end
      end
    end
  end
  return true
end

-- The intent that an open row names stands before its body.
local function named(value)
  return value and string.match(value, '^([^\n]*)\n') or ''
end

-- Open rows as they will be; `deltas` says how many more rows name an intent than before.
local function put_rows(lane, one, puts, drops, deltas)
  local held = read('HMGET', lane, one.first, one.last)
  for i = 1, one.count do
    local member, value = ARGV[one.first + i - 1], nil
    if one.sign == '+row' then
      value = ARGV[one.last + i]
      puts[#puts + 1] = member
      puts[#puts + 1] = value
    else
      drops[#drops + 1] = member
    end
    local was, is = named(held[i]), named(value)
    if was ~= is then
      deltas[was] = (deltas[was] or 0) - 1
      deltas[is] = (deltas[is] or 0) + 1
    end
  end
end

local function count_names(lane, deltas, puts, drops)
  local names = {}
  for name, delta in pairs(deltas) do
    if name ~= '' and delta ~= 0 then names[#names + 1] = '#' .. name end
  end
  table.sort(names)
  for from = 1, #names, 1000 do
    local last = math.min(from + 999, #names)
    local counts = call('HMGET', lane, unpack(names, from, last))
    for i = from, last do
      local count = tonumber(counts[i - from + 1] or '0') + deltas[string.sub(names[i], 2)]
      if count > 0 then
        puts[#puts + 1] = names[i]
        puts[#puts + 1] = whole(count)
      else
        drops[#drops + 1] = names[i]
      end
    end
  end
end

-- All cells but open rows.
local function put_cells(one)
  if one.sign == '-hash' then return write('HDEL', one.key, one.first, one.last) end
  local words, is_set = one.shared and shared[one.shared] or {}, one.sign == '+zset'
  for i = one.first, one.last do
    local member, value = ARGV[i], ARGV[i + one.count]
    words[#words + 1] = is_set and value or member
    words[#words + 1] = is_set and member or value
    if one.shared and not is_set then pending[one.shared][member] = true end
  end
  if not one.shared then many(is_set and 'ZADD' or 'HSET', one.key, words) end
end

-- What a lane's layout shows. A command without words is sent for all its keys at once.
local function show(base, at, last)
  while at <= last do
    local command, count = ARGV[at], tonumber(ARGV[at + 1])
    local same, own = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    local first = at + 4 + same
    if command == 'UNLESS' then
      if call('EXISTS', KEYS[base]) == 0 then call('DEL', KEYS[base + 1]) end
    elseif same + own == 0 then
      for from = base + 1, base + count, 1000 do
        call(command, unpack(KEYS, from, math.min(from + 999, base + count)))
      end
    elseif same == 0 then
      for i = 1, count do
        write(command, KEYS[base + i], first + (i - 1) * own, first + i * own - 1)
      end
    else
      local words = {unpack(ARGV, at + 4, first - 1)}
      for i = 1, count do
        for j = 1, own do words[same + j] = ARGV[first + (i - 1) * own + j - 1] end
        call(command, KEYS[base + i], unpack(words))
      end
    end
    base = base + count
    at = first + count * own
  end
end

local fed = {}

local function commit(base, at, first, last)
  local lane, name, version = KEYS[base + 1], ARGV[at], ARGV[at + 2]
  local owner, beside = ARGV[at + 13], tonumber(ARGV[at + 14])
  local held = call('HMGET', lane, 'fence', 'version', 'digest', 'count', 'wake')
  if held[1] ~= ARGV[at + 1] or tonumber(held[1]) <= passed then return 0 end
  local before = held[2] or '0'
  if before == version then
    if held[3] ~= ARGV[at + 3] then return -1 end
    touch(numbers)
    return 2
  end
  if tonumber(before) + 1 ~= tonumber(version) then return 0 end
  if owner ~= '' and (beside < 0 or call('GET', KEYS[base + 5]) ~= owner) then return 0 end
  local changes = changes_of(base, at + HEAD, first - 1)
  if not holds(changes) then return -2 end

  local puts, drops, deltas = {}, {}, {}
  for _, one in ipairs(changes) do
    if one.sign == '+row' or one.sign == '-row' then
      put_rows(lane, one, puts, drops, deltas)
    elseif one.sign ~= '?zset' then
      put_cells(one)
    end
  end
  local wake = ARGV[at + 7]
  -- Work that waits never lets a lane sleep; the lane cannot know what came in meanwhile.
  if tonumber(held[4] or '0') > tonumber(ARGV[at + 5]) or call('HLEN', KEYS[base + 2]) > 0 then
    wake = '0'
  end
  count_names(lane, deltas, puts, drops)
  call('HSET', lane, 'version', version, 'digest', ARGV[at + 3], 'cursors', ARGV[at + 4],
    'settled', ARGV[at + 5], 'settled_bytes', ARGV[at + 6], 'wake', wake, 'state', ARGV[at + 8])
  many('HSET', lane, puts)
  many('HDEL', lane, drops)
  move_wake(awake, alarms, name, held[5] or '', wake)
  if owner ~= '' then show(base + 5, first, last) end
  if ARGV[at + 10] ~= '' then
    for _, word in ipairs({name, version, ARGV[at + 9], ARGV[at + 10]}) do fed[#fed + 1] = word end
  end
  return 1
end

local answers, ended = {}, {}
local base, at = SHARED, 4
for number = 1, tonumber(ARGV[3]) do
  local first = at + HEAD + tonumber(ARGV[at + 12])
  local after = first + tonumber(ARGV[at + 15])
  answers[number] = commit(base, at, first, after - 1)
  if answers[number] == 1 and ARGV[at + 11] == '1' then ended[#ended + 1] = ARGV[at] end
  base = base + OWN
  if ARGV[at + 13] ~= '' then base = base + 1 + math.max(tonumber(ARGV[at + 14]), 0) end
  at = after
end
many('ZADD', KEYS[4], shared[4])
many('HSET', KEYS[5], shared[5])
many('ZADD', KEYS[7], shared[7])
if #fed > 0 then
  -- One entry for all commits; it bears the number of its last, so that each has its own.
  local last = call('HINCRBY', numbers, 'feed', #fed / 4)
  call('XADD', feed, '0-' .. whole(last), unpack(fed))
end
if #ended > 0 then
  call('PUBLISH', ARGV[1], 'ended\n' .. ARGV[2] .. '\n' .. table.concat(ended, '\n'))
end
return answers
