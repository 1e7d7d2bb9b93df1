-- What every script begins with: the time, and the session that it is about.
--
-- KEYS  1 row, 2 entries, 3 index, 4 words, 5 claims, 6 values, 7 snapshots: all there is of the session. Behind them
--       those that all sessions share: 8 sessions, 9 expiry, 10 changes, 11 count, 12 leases,
--       13 holders.
-- ARGV  1 the time now in milliseconds, or nothing for the time of the server; 2 the session's id; 3 who asks.
local SECOND_CHANCE = 24 * 3600 * 1000
local CHANGES_KEPT = 10000

local system = ARGV[1] == ''
local now = tonumber(ARGV[1])
if system then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function digits(number)
  return string.format('%016.0f', number)
end

local function plain(number)
  return string.format('%.0f', number)
end

-- The row {seq, tag, expires_at, last_activity, born} where the session lives, and whether one is there at all.
local function look()
  local row = redis.call('HMGET', KEYS[1], 'seq', 'tag', 'expires_at', 'last_activity', 'born')
  if not row[1] then return nil, false end
  if row[3] ~= '' and tonumber(row[3]) <= now then return nil, true end
  return row, true
end

-- What nobody sweeps is removed by the server itself, a day after it has expired. Not where a test says what time it
-- is, for the server goes by its own clock.
local function keep(expires_at)
  if not system then return end
  for i = 1, 7 do
    if expires_at == '' then
      redis.call('PERSIST', KEYS[i])
    else
      redis.call('PEXPIREAT', KEYS[i], plain(tonumber(expires_at) + SECOND_CHANCE))
    end
  end
end

local function list(expires_at)
  redis.call('ZADD', KEYS[8], 0, ARGV[2])
  if expires_at == '' then
    redis.call('ZREM', KEYS[9], ARGV[2])
  else
    redis.call('ZADD', KEYS[9], expires_at, ARGV[2])
  end
end

local function announce()
  local count = redis.call('INCR', KEYS[11])
  redis.call('XADD', KEYS[10], 'MAXLEN', '~', CHANGES_KEPT, '*', 'count', count, 'session', ARGV[2], 'by', ARGV[3])
end

local function unlease()
  redis.call('ZREM', KEYS[12], ARGV[2])
  redis.call('HDEL', KEYS[13], ARGV[2])
end

-- Removes all there is of the session. Says whether the list of those that expire had it.
local function bury()
  redis.call('UNLINK', unpack(KEYS, 1, 7))
  redis.call('ZREM', KEYS[8], ARGV[2])
  unlease()
  return redis.call('ZREM', KEYS[9], ARGV[2]) == 1
end
