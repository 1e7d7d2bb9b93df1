-- Adds a session of format 4 to the lists by last use and by id.
local text = redis.call('HGET', journal, 'row')
if not text then return 0 end
local last_activity = string.match(text, '^%S+ %S+ %S+ (%S+)')
redis.call('ZADD', KEYS[8], 'NX', last_activity, session)
redis.call('ZADD', KEYS[7], 0, session)
return 1
