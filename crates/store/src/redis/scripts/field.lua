-- ARGV  4 a field of the journal. Gives what is there, or nothing.
if not look() then return false end
return redis.call('HGET', journal, ARGV[4])
