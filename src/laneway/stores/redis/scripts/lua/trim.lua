-- Forget the feed's oldest entries, each when all that it tells is old.
--
-- KEYS  feed
-- ARGV  the time before which it is old, how many at most
-- Answers how much was forgotten.
local before, left, gone = tonumber(ARGV[1]), tonumber(ARGV[2]), 0
for _, entry in ipairs(call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[2])) do
  local id, fields = entry[1], entry[2]
  local old = gone < left
  for i = 3, #fields, 4 do old = old and tonumber(fields[i]) < before end
  if old then
    call('XDEL', KEYS[1], id)
    gone = gone + #fields / 4
  end
end
return gone
