-- Give a lane back, if it is still held by this fence; whoever it belongs to may have it now.
--
-- KEYS  lane
-- ARGV  fence, channel, sender, lane
if call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
if (call('HGET', KEYS[1], 'wake') or '') ~= '' then
  call('PUBLISH', ARGV[2], 'woken\n' .. ARGV[3] .. '\n' .. ARGV[4])
end
return call('HDEL', KEYS[1], 'owner')
