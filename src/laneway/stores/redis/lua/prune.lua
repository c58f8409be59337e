-- Forget finished intents of a lane; what finds them again stays.
--
-- KEYS  settled, final, intents, results, order, left, named
-- ARGV  lane; then for each intent id, final word, what it leaves
-- Answers how many were forgotten: none that an open row still names.
local settled, final, intents, results = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local order, left, named = KEYS[5], KEYS[6], KEYS[7]
local count = 0
for i = 2, #ARGV, 3 do
  local id = ARGV[i]
  if call('HEXISTS', named, id) == 0 and call('HDEL', results, id) == 1 then
    call('HDEL', intents, id)
    call('ZREM', order, id)
    call('ZREM', settled, id .. ' ' .. ARGV[1])
    call('ZREM', final, ARGV[i + 1] .. '\31' .. id)
    call('HSET', left, id, ARGV[i + 2])
    count = count + 1
  end
end
return count
