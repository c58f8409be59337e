-- All that a lane needs to stand up again, in one step.
--
-- KEYS  head, rows, named, intents, order, mail
-- ARGV  fence
-- Answers {head, rows, named intents {id, score, body, …}, mail}; nothing if there is no such
--       lane, the version as a number if another holds it.
local head = call('HGETALL', KEYS[1])
if #head == 0 then return false end
if call('HGET', KEYS[1], 'fence') ~= ARGV[1] then
  return tonumber(call('HGET', KEYS[1], 'version') or '0')
end
local found = {}
for _, id in ipairs(call('HKEYS', KEYS[3])) do
  local body = call('HGET', KEYS[4], id)
  if body then
    found[#found + 1] = id
    found[#found + 1] = call('ZSCORE', KEYS[5], id)
    found[#found + 1] = body
  end
end
return {head, call('HGETALL', KEYS[2]), found, call('HGETALL', KEYS[6])}
