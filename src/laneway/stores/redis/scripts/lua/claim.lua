-- Take a lane from oneself, nobody or the dead; the fence rises.
--
-- KEYS  owners, dead, lanes, numbers, lane; if it has a layout its lock
-- ARGV  lane, owner, now or '', 1 if it is adopted
-- Answers {fence, who was buried or ''}, or nothing if a live owner holds the lane.
local owners, dead, lanes, numbers, head = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local lane, owner = ARGV[1], ARGV[2]
local now, buried = now_ms(ARGV[3]), ''
if call('ZSCORE', dead, owner) then return false end
local holder = call('HGET', head, 'owner')
-- A layout's lock that does not hold the owner's name was written by someone else.
local lock = KEYS[6] and call('GET', KEYS[6])
if lock and lock ~= holder and lock ~= owner and ARGV[4] == '0' then return {0, lock} end
if holder and holder ~= owner then
  local deadline = call('ZSCORE', owners, holder)
  if deadline and tonumber(deadline) >= now then return false end
  call('ZREM', owners, holder)
  call('ZADD', dead, 'NX', whole(now), holder)
  buried = holder
end
call('ZADD', lanes, 0, lane)
local fence = math.max(tonumber(call('HGET', head, 'fence') or '0'), fence_before(numbers)) + 1
call('HSET', head, 'owner', owner, 'fence', whole(fence))
if KEYS[6] then call('SET', KEYS[6], owner) end
return {fence, buried}
