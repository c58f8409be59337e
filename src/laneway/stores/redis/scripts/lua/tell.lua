-- Put a command into a lane's mailbox, unless it lies there or its intent is final.
--
-- KEYS  awake, alarms, lanes, numbers, results, left, lane, mail; if the lane's layout marks such
--       a command the mark, and which commands made it
-- ARGV  channel, sender, lane, groups of the store, this group, intent or '', what makes it the same as another, value;
--       when, if it is marked
-- Answers {id, the value that lies there}; the id is 0 when the intent is final.
local awake, alarms, lanes, numbers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local results, left, lane, mail = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local name, intent, same, value = ARGV[3], ARGV[6], ARGV[7], ARGV[8]
if intent ~= '' then
  if call('HEXISTS', results, intent) == 1 or call('HEXISTS', left, intent) == 1 then
    return {'0', value}
  end
  local waiting = call('HGETALL', mail)
  for i = 1, #waiting, 2 do
    if string.sub(waiting[i + 1], 1, #same + 1) == same .. '\n' then
      touch(numbers)
      return {waiting[i], waiting[i + 1]}
    end
  end
end
-- Numbers of one group never meet another's.
local id = whole(call('HINCRBY', numbers, 'command', 1) * tonumber(ARGV[4]) + tonumber(ARGV[5]))
local wake = call('HGET', lane, 'wake') or ''
call('HSET', mail, id, value)
if KEYS[9] then
  call('SET', KEYS[9], ARGV[9])
  call('HSET', KEYS[10], id, ARGV[9])
end
call('ZADD', lanes, 0, name)
call('HSET', lane, 'wake', '0')
move_wake(awake, alarms, name, wake, '0')
call('PUBLISH', ARGV[1], 'told\n' .. ARGV[2] .. '\n' .. name)
return {id, value}
