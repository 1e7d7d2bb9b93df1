-- Lists a session that a server of format 4 has made, by its last use and by its id.
local text = redis.call('HGET', journal, 'row')
if not text then return 0 end
local last_activity = string.match(text, '^%S+ %S+ %S+ (%S+)')
redis.call('ZADD', KEYS[8], 'NX', last_activity, session)
redis.call('ZADD', KEYS[7], 0, session)
return 1
