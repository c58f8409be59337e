-- Give a lane back, if it is still held by this fence; its home may have it now.
--
-- KEYS  lane; if it has a layout its lock
-- ARGV  fence, channel, sender, lane
if call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
if (call('HGET', KEYS[1], 'wake') or '') ~= '' then
  call('PUBLISH', ARGV[2], 'woken\n' .. ARGV[3] .. '\n' .. ARGV[4])
end
if KEYS[2] and call('GET', KEYS[2]) == call('HGET', KEYS[1], 'owner') then call('DEL', KEYS[2]) end
return call('HDEL', KEYS[1], 'owner')
