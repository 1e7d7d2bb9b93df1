-- ARGV  4 the newest number that will do. Gives {number, tag and state} or nothing.
if not look() then return false end
local newest
for _, number in ipairs(redis.call('HKEYS', KEYS[3])) do
  if tonumber(number) <= tonumber(ARGV[4]) and (not newest or tonumber(number) > tonumber(newest)) then newest = number end
end
return newest and {newest, redis.call('HGET', KEYS[3], newest)}
