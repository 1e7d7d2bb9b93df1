-- ARGV  4 when it expires. Returns the row, or nothing.
local row = look()
if not row then return false end
-- A server whose memory is full refuses a script whose first write could need memory. PERSIST needs none: a session in use
-- must not expire because the server is full.
redis.call('PERSIST', journal)
local text = written(row.seq, row.tag, ARGV[4], plain(now), row.born, row.filed, row.words)
redis.call('HSET', journal, 'row', text)
keep(ARGV[4])
local used = redis.call('ZSCORE', KEYS[8], session)
use(used and tonumber(used) < 0)
list({[session] = ARGV[4]})
announce(session)
return text
