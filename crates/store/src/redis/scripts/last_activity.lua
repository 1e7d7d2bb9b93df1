-- Returns the newest last activity of all journals, or nothing. Requests are at the beginning of the list, sessions at the
-- end.
local newest
for _, place in ipairs({0, -1}) do
  local millis = redis.call('ZRANGE', KEYS[8], place, place, 'WITHSCORES')[2]
  if millis then newest = math.max(newest or 0, math.abs(tonumber(millis))) end
end
return newest and plain(newest)
