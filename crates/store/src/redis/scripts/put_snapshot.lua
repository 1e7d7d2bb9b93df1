-- ARGV  4 the number and 5 the tag of the head; 6 the state; 7 how many are kept. Does nothing where the head is not in
-- the journal.
local row = look()
local entry = row and redis.call('HGET', KEYS[1], ARGV[4])
if not entry or string.sub(entry, 1, 32) ~= ARGV[5] then return 0 end
redis.call('HSET', KEYS[3], ARGV[4], ARGV[5] .. ARGV[6])
local kept = redis.call('HKEYS', KEYS[3])
table.sort(kept, function(a, b) return tonumber(a) > tonumber(b) end)
for i = tonumber(ARGV[7]) + 1, #kept do redis.call('HDEL', KEYS[3], kept[i]) end
keep(row.expires_at)
return 1
