-- ARGV  4 which of the keys; 5 a field of it. Gives what is there, or nothing.
if not look() then return false end
return redis.call('HGET', KEYS[tonumber(ARGV[4])], ARGV[5])
