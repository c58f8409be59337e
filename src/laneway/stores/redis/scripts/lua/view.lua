-- Intents of a lane with all that is known of them.
--
-- KEYS  lane, order, intents, results
-- ARGV  ids
-- Answers for each id {score, body, result or '', how many rows name it}, or nothing.
local answers = {}
for i, id in ipairs(ARGV) do
  local place = call('ZSCORE', KEYS[2], id)
  answers[i] = place and {
    place, call('HGET', KEYS[3], id), call('HGET', KEYS[4], id) or '',
    call('HGET', KEYS[1], '#' .. id) or '0',
  }
end
return answers
