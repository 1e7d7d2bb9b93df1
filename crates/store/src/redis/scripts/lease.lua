-- ARGV  3 the holder; 4 how long its leases last; 5 how many expired leases it may take. Returns the sessions whose leases it
--       then has. If they last 0 ms, it releases all of them.
local lasts, most = tonumber(ARGV[4]), tonumber(ARGV[5])
local held = {}
if lasts == 0 then most = 0 end
local leases = redis.call('ZRANGE', KEYS[5], 0, -1, 'WITHSCORES')
for i = 1, #leases, 2 do
  local session, holder = leases[i], redis.call('HGET', KEYS[6], leases[i])
  local ours = holder == ARGV[3]
  if not ours and most > 0 and tonumber(leases[i + 1]) <= now then
    ours, most = true, most - 1
  end
  if ours then
    redis.call('ZADD', KEYS[5], plain(now + lasts), session)
    redis.call('HSET', KEYS[6], session, lasts == 0 and '' or ARGV[3])
    if lasts > 0 then held[#held + 1] = session end
  end
end
return held
