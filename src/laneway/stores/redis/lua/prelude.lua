-- What every script begins with.
local call = redis.call

-- The server's clock in milliseconds, unless a test brings its own.
local function now_ms(given)
  if given ~= '' then return tonumber(given) end
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(number)
  return string.format('%.0f', number)
end

-- Keep a lane's wake time where those who look for work find it: '' sleeps, '0' has work now.
local function set_wake(head, awake, alarms, lane, old, new)
  if old == new then return end
  call('HSET', head, 'wake', new)
  if new == '0' then
    call('ZADD', awake, 0, lane)
  elseif old == '0' then
    call('ZREM', awake, lane)
  end
  if new ~= '' and new ~= '0' then
    call('ZADD', alarms, new, lane)
  elseif old ~= '' and old ~= '0' then
    call('ZREM', alarms, lane)
  end
end
