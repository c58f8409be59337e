-- Waiting intents of a lane in its order, those with a final answer left out.
--
-- KEYS  lane, order, intents, results
-- ARGV  limit, bytes limit, how many to look at in one step; for each class its cursor
-- Answers {1 if there are more, {id, score, body, …}}; nothing if there is no such lane.
if call('EXISTS', KEYS[1]) == 0 then return false end
local limit, bytes_max, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local found, count, bytes = {}, 0, 0
for class = 0, #ARGV - 4 do
  local start = class * 281474976710656
  local place = '(' .. whole(start + tonumber(ARGV[class + 4]))
  local stop = '(' .. whole(start + 281474976710656)
  while true do
    local page = call('ZRANGEBYSCORE', KEYS[2], place, stop, 'WITHSCORES', 'LIMIT', 0, step)
    for i = 1, #page, 2 do
      local id = page[i]
      if call('HEXISTS', KEYS[4], id) == 0 then
        local body = call('HGET', KEYS[3], id)
        local size = tonumber(string.match(body, '^%d+'))
        if count == limit or (count > 0 and bytes + size > bytes_max) then return {1, found} end
        count = count + 1
        bytes = bytes + size
        found[#found + 1] = id
        found[#found + 1] = page[i + 1]
        found[#found + 1] = body
      end
    end
    if #page < 2 * step then break end
    place = '(' .. page[#page]
  end
end
return {0, found}
