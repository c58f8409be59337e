-- What a process says first to a server that it will write to.
--
-- A promoted replica may lack what its master answered last, and counts by another clock. So its
-- fences begin above all that the master can have handed out, leases of before are void, and
-- everyone who lived when the master was last reached has one more lifetime, by this clock.
--
-- KEYS  owners, numbers, meta
-- ARGV  the server's replication id; the one it had as a replica, or ''; replicas it has; now or ''
-- Answers {1 if it was promoted since anyone met it, the most replicas it was ever seen with}.
local owners, numbers, meta = KEYS[1], KEYS[2], KEYS[3]
local known = call('HMGET', meta, 'history', 'replicas')
local replicas, promoted = tonumber(known[2] or '0'), 0
if tonumber(ARGV[3]) > replicas then
  replicas = tonumber(ARGV[3])
  call('HSET', meta, 'replicas', ARGV[3])
end
if known[1] ~= ARGV[1] then
  call('HSET', meta, 'history', ARGV[1])
  if known[1] and ARGV[2] ~= '' then
    promoted = 1
    call('HINCRBY', numbers, 'epoch', 1)
    local last = call('ZREVRANGE', owners, 0, 0, 'WITHSCORES')[2]
    if last then
      local lifetime = tonumber(call('HGET', numbers, 'lifetime') or '0')
      local until_ms = whole(now_ms(ARGV[4]) + lifetime)
      -- Whose deadline was over when the last heart beat was dead then.
      call('ZREMRANGEBYSCORE', owners, '-inf', '(' .. whole(tonumber(last) - lifetime))
      for _, owner in ipairs(call('ZRANGE', owners, 0, -1)) do
        call('ZADD', owners, until_ms, owner)
      end
    end
  end
end
return {promoted, replicas}
