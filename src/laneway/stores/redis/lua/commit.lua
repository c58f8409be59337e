-- The fenced write of lanes: each commit is compared, guarded and applied by itself.
--
-- KEYS  awake, alarms, feed, final, settled; then for each commit
--       head, rows, named, intents, results, indexes, mail
-- ARGV  channel, sender, how many commits; then for each
--       lane, fence, version, digest, cursors, settled count, settled bytes, wake, state,
--       at, feed, whether it ends intents, how many changes; then for each change
--       sign and type, key (of the lane, or below zero a shared one), member, value
-- Answers for each commit 1: applied, 2: it was there already, 0: the lease is lost,
--       -1: this version has other rows, -2: a guard does not hold.

local SHARED, OWN = 5, 7
local awake, alarms, feed = KEYS[1], KEYS[2], KEYS[3]

local function named(value)
  return value and string.match(value, '^([^\n]*)\n') or ''
end

local function put_row(rows, counts, member, value)
  local was = named(call('HGET', rows, member))
  if value then
    call('HSET', rows, member, value)
  else
    call('HDEL', rows, member)
  end
  local is = named(value)
  if was == is then return end
  if was ~= '' and call('HINCRBY', counts, was, -1) <= 0 then call('HDEL', counts, was) end
  if is ~= '' then call('HINCRBY', counts, is, 1) end
end

local function commit(base, at, changes)
  local function key(number)
    number = tonumber(number)
    return number < 0 and KEYS[-number] or KEYS[base + number]
  end
  local head, lane, version = KEYS[base + 1], ARGV[at], ARGV[at + 2]
  local held = call('HMGET', head, 'fence', 'version', 'digest', 'count', 'wake')
  if held[1] ~= ARGV[at + 1] then return 0 end
  local last = held[2] or '0'
  if last == version then
    if held[3] ~= ARGV[at + 3] then return -1 end
    -- Written again, so that a WAIT behind it waits for this commit's replicas too.
    call('HSET', head, 'version', version)
    return 2
  end
  if tonumber(last) + 1 ~= tonumber(version) then return 0 end

  local first, final = at + 13, at + 13 + 4 * changes - 1
  for i = first, final, 4 do
    local sign = ARGV[i]
    if sign == '!hash' then
      if call('HEXISTS', key(ARGV[i + 1]), ARGV[i + 2]) == 1 then return -2 end
    elseif sign == '?hash' then
      if call('HEXISTS', key(ARGV[i + 1]), ARGV[i + 2]) == 0 then return -2 end
    end
  end
  for i = first, final, 4 do
    local sign, member, value = ARGV[i], ARGV[i + 2], ARGV[i + 3]
    if sign == '+row' then
      put_row(key(ARGV[i + 1]), KEYS[base + 3], member, value)
    elseif sign == '-row' then
      put_row(key(ARGV[i + 1]), KEYS[base + 3], member, nil)
    elseif sign == '+hash' then
      call('HSET', key(ARGV[i + 1]), member, value)
    elseif sign == '-hash' then
      call('HDEL', key(ARGV[i + 1]), member)
    elseif sign == '+zset' then
      call('ZADD', key(ARGV[i + 1]), value, member)
    elseif sign == '-zset' then
      call('ZREM', key(ARGV[i + 1]), member)
    end
  end

  call('HSET', head, 'version', version, 'digest', ARGV[at + 3], 'cursors', ARGV[at + 4],
    'settled', ARGV[at + 5], 'settled_bytes', ARGV[at + 6], 'state', ARGV[at + 8])
  -- Work that waits never lets a lane sleep; the lane cannot know what came in meanwhile.
  local wake = ARGV[at + 7]
  if tonumber(held[4] or '0') > tonumber(ARGV[at + 5]) or call('HLEN', KEYS[base + 7]) > 0 then
    wake = '0'
  end
  set_wake(head, awake, alarms, lane, held[5] or '', wake)
  if ARGV[at + 10] ~= '' then
    call('XADD', feed, '0-*', 'l', lane, 'v', version, 't', ARGV[at + 9], 'r', ARGV[at + 10])
  end
  return 1
end

local answers, ended = {}, {}
local at = 4
for number = 1, tonumber(ARGV[3]) do
  local changes = tonumber(ARGV[at + 12])
  answers[number] = commit(SHARED + (number - 1) * OWN, at, changes)
  if answers[number] == 1 and ARGV[at + 11] == '1' then ended[#ended + 1] = ARGV[at] end
  at = at + 13 + 4 * changes
end
if #ended > 0 then
  call('PUBLISH', ARGV[1], 'ended\n' .. ARGV[2] .. '\n' .. table.concat(ended, '\n'))
end
return answers
