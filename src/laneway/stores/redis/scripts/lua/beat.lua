-- One heartbeat of a process.
--
-- KEYS  owners, dead, numbers
-- ARGV  owner, lifetime, now or '', how long names are kept
-- Answers everyone whose heart beats; nothing if the owner was declared dead.
local now = now_ms(ARGV[3])
if call('ZSCORE', KEYS[2], ARGV[1]) then return false end
-- Known to a server that is promoted, and must wait for as long; see meet.lua.
if call('HGET', KEYS[3], 'lifetime') ~= ARGV[2] then
  call('HSET', KEYS[3], 'lifetime', ARGV[2])
end
call('ZADD', KEYS[1], whole(now + tonumber(ARGV[2])), ARGV[1])
local gone = '(' .. whole(now - tonumber(ARGV[4]))
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', gone)
call('ZREMRANGEBYSCORE', KEYS[2], '-inf', gone)
return call('ZRANGEBYSCORE', KEYS[1], whole(now), '+inf')
