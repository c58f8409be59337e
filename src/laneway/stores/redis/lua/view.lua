-- Intents of a lane with all that is known of them.
--
-- KEYS  order, intents, results, named
-- ARGV  ids
-- Answers for each id {score, body, result or '', how many rows name it}, or nothing.
local answers = {}
for i, id in ipairs(ARGV) do
  local body = call('HGET', KEYS[2], id)
  answers[i] = body and {
    call('ZSCORE', KEYS[1], id), body, call('HGET', KEYS[3], id) or '',
    call('HGET', KEYS[4], id) or '0',
  }
end
return answers
