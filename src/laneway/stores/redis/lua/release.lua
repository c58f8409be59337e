-- Give a lane back, if it is still held by this fence.
--
-- KEYS  lane
-- ARGV  fence
if call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
return call('HDEL', KEYS[1], 'owner')
