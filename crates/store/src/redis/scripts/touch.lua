-- ARGV  4 when it expires. Gives the row, or nothing.
local row = look()
if not row then return false end
-- A server without memory refuses a script whose first write could need some. This one needs none, and what is in use
-- must not expire because the server is full.
redis.call('PERSIST', KEYS[1])
row[3], row[4] = ARGV[4], plain(now)
redis.call('HSET', KEYS[1], 'expires_at', row[3], 'last_activity', row[4])
keep(row[3])
list(row[3])
announce()
return row
