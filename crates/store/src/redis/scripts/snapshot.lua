-- ARGV  4 the highest number that is acceptable. Returns {number, tag and state}, or nothing.
if not look() then return false end
local newest
for _, number in ipairs(redis.call('HKEYS', snapshots)) do
  if tonumber(number) <= tonumber(ARGV[4]) and (not newest or tonumber(number) > tonumber(newest)) then newest = number end
end
return newest and {newest, redis.call('HGET', snapshots, newest)}
