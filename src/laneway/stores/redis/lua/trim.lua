-- Forget the feed's oldest entries.
--
-- KEYS  feed
-- ARGV  told before, how many at most
-- Answers how many are gone.
local gone = {}
for _, entry in ipairs(call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[2])) do
  if tonumber(entry[2][6]) < tonumber(ARGV[1]) then gone[#gone + 1] = entry[1] end
end
for _, id in ipairs(gone) do call('XDEL', KEYS[1], id) end
return #gone
