-- All that a lane needs to stand up again, in one step.
--
-- KEYS  lane, mail, order, intents
-- ARGV  fence
-- Answers {head and rows, named intents {id, score, body, …}, mail}; nothing if there is no such
--       lane, the version as a number if another holds it.
local held = call('HGETALL', KEYS[1])
if #held == 0 then return false end
if call('HGET', KEYS[1], 'fence') ~= ARGV[1] then
  return tonumber(call('HGET', KEYS[1], 'version') or '0')
end
local found = {}
for i = 1, #held, 2 do
  if string.sub(held[i], 1, 1) == '#' then
    local id = string.sub(held[i], 2)
    local place = call('ZSCORE', KEYS[3], id)
    if place then
      found[#found + 1] = id
      found[#found + 1] = place
      found[#found + 1] = call('HGET', KEYS[4], id)
    end
  end
end
return {held, found, call('HGETALL', KEYS[2])}
