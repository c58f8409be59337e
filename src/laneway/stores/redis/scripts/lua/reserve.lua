-- The first who names a member keeps it.
--
-- KEYS  homes or keys
-- ARGV  member, value; …
-- Answers for each member the value that stands there now.
local answers = {}
for i = 1, #ARGV, 2 do
  local taken = call('HGET', KEYS[1], ARGV[i])
  -- Also written when it was there, so that a WAIT after it waits for the reservation.
  call('HSET', KEYS[1], ARGV[i], taken or ARGV[i + 1])
  answers[#answers + 1] = taken or ARGV[i + 1]
end
return answers
