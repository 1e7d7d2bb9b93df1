-- ARGV  4 the number and 5 the tag of the head; 6 the state; 7 how many snapshots are kept. Does nothing if the head is not
-- in the journal, or is older than the last batch that rewrote entries.
local row = look()
local entry = row and redis.call('HGET', journal, ARGV[4])
if not entry or string.sub(entry, 1, 32) ~= ARGV[5] then return 0 end
if tonumber(redis.call('HGET', journal, 'rewritten') or 0) > tonumber(ARGV[4]) then return 0 end
redis.call('HSET', snapshots, ARGV[4], ARGV[5] .. ARGV[6])
local kept = redis.call('HKEYS', snapshots)
table.sort(kept, function(a, b) return tonumber(a) > tonumber(b) end)
for i = tonumber(ARGV[7]) + 1, #kept do redis.call('HDEL', snapshots, kept[i]) end
keep(row.expires_at)
return 1
