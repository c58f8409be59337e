-- An owner whose lane was taken must never beat under this name again.
--
-- KEYS  owners, dead
-- ARGV  owner, now or ''
call('ZREM', KEYS[1], ARGV[1])
call('ZADD', KEYS[2], 'NX', whole(now_ms(ARGV[2])), ARGV[1])
return 1
