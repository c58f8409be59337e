-- What every script begins with.
local call = redis.call

-- The server's clock in milliseconds, unless a test brings its own.
local function now_ms(fixed)
  if fixed ~= '' then return tonumber(fixed) end
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The arguments of a script that is sent thousands of them, as Call.sent packs them.
local function arguments()
  local words, bytes, at = cmsgpack.unpack(ARGV[1]), ARGV[2], 1
  for i = 1, #words do
    local length = words[i]
    if type(length) == 'number' then
      words[i] = string.sub(bytes, at, at + length - 1)
      at = at + length
    end
  end
  return words
end

local function whole(number)
  return string.format('%.0f', number)
end

-- One command with many words; Lua's stack holds only a limited number at once. `step` is even.
local function many(command, key, words, step)
  for first = 1, #words, step or 1000 do
    call(command, key, unpack(words, first, math.min(first + (step or 1000) - 1, #words)))
  end
end

-- Something is written although nothing changed, so that a WAIT after it waits for what was.
local function touch(numbers)
  call('HSET', numbers, 'touched', 1)
end

-- The last fence that a server can have handed out before this one was promoted; see meet.lua.
local function fence_before(numbers)
  return tonumber(call('HGET', numbers, 'epoch') or '0') * 4294967296
end

-- Keep a lane where those who look for work find it: '' sleeps, '0' has work now.
local function move_wake(awake, alarms, lane, old, new)
  if old == new then return end
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
