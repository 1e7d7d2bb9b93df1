-- ARGV  3 how many to skip; 4 the most to return. Returns the journals that have expired and are still in the list, the first
--       to expire first: the id of each, and then when it expired.
return redis.call('ZRANGE', KEYS[2], '-inf', plain(now), 'BYSCORE', 'LIMIT', ARGV[3], ARGV[4], 'WITHSCORES')
