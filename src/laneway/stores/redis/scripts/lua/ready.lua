-- Lanes with work, by name.
--
-- KEYS  awake, alarms
-- ARGV  now, after or '', limit, how many alarms to look at
-- Answers {those with work after that name, those whose alarm is due}.
return {
  call('ZRANGEBYLEX', KEYS[1], ARGV[2] == '' and '-' or '(' .. ARGV[2], '+', 'LIMIT', 0, ARGV[3]),
  call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, ARGV[4]),
}
