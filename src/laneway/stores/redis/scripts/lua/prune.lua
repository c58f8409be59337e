-- Forget finished intents of a lane; what finds them again stays.
--
-- KEYS  ended, intents, results, left, lane, order; if the lane has a layout the registry, then
--       for each intent two keys that go with it
-- ARGV  lane; then for each intent id, what it leaves
-- Answers how many were forgotten: none that an open row still names.
local ended, intents, results = KEYS[1], KEYS[2], KEYS[3]
local left, lane, order = KEYS[4], KEYS[5], KEYS[6]
local count = 0
for i = 2, #ARGV, 2 do
  local id = ARGV[i]
  if call('HEXISTS', lane, '#' .. id) == 0 and call('HDEL', results, id) == 1 then
    call('HDEL', intents, id)
    call('ZREM', order, id)
    call('ZREM', ended, id .. ' ' .. ARGV[1])
    call('HSET', left, id, ARGV[i + 1])
    if KEYS[7] then
      call('HDEL', KEYS[7], id)
      call('DEL', KEYS[i + 6], KEYS[i + 7])
    end
    count = count + 1
  end
end
return count
