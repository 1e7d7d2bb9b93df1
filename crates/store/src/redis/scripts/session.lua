-- What every script begins with: the time, and the session that it is about.
--
-- KEYS  1 journal, 2 index, 3 snapshots: all there is of the session. Behind them those that all sessions share:
--       4 sessions, 5 expiry, 6 changes, 7 count, 8 leases, 9 holders.
-- ARGV  1 the time now in milliseconds, or nothing for the time of the server; 2 the session's id; 3 who asks.
local HOUR = 3600 * 1000
local SECOND_CHANCE = 24 * HOUR
local CHANGES_KEPT = 10000
local NEVER = '-'

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

-- The row that a text says where the session lives, and whether one is there at all. `filed` is the last entry that is
-- in the index, `words` how many words have a number.
local function parse(text)
  if not text then return nil, false end
  local row = {text = text}
  row.seq, row.tag, row.expires_at, row.last_activity, row.born, row.filed, row.words =
    string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  if row.expires_at ~= NEVER and tonumber(row.expires_at) <= now then return nil, true end
  return row, true
end

local function written(...)
  return table.concat({...}, ' ')
end

local function look()
  return parse(redis.call('HGET', KEYS[1], 'row'))
end

-- Entries are put into the index some at a time: one takes as long to find its place as many that belong beside each
-- other. Those that wait for it stand in as many fields as may wait, in which their numbers take turns.
local WAITING = 100
local WAITS = '^(%d+) (%d+) (%d*)$' -- The numbers of the type and the subject, and the time where there is one.

local function slot(number)
  return 'w' .. plain(number % WAITING)
end

-- What waits, from behind `filed` to `seq`.
local function waiting(filed, seq)
  local slots = {}
  for number = filed + 1, seq do slots[#slots + 1] = slot(number) end
  return #slots > 0 and redis.call('HMGET', KEYS[1], unpack(slots)) or {}
end

-- The places in the index of what waits and of `more` behind it, each behind the score that all have.
local function places(filed, seq, more)
  local found, members = waiting(filed, seq), {}
  for _, text in ipairs(more) do found[#found + 1] = text end
  for i, text in ipairs(found) do
    local kind, subject, time = string.match(text, WAITS)
    local pair, place = subject .. '.' .. kind .. ':', digits(filed + i)
    local of_each = {'t' .. kind .. ':' .. place, 's' .. subject .. ':' .. place, 'p' .. pair .. place}
    if time ~= '' then of_each[4] = '@' .. pair .. time .. place end
    for _, member in ipairs(of_each) do
      members[#members + 1] = 0
      members[#members + 1] = member
    end
  end
  return members
end

-- When the server itself removes a session that nobody sweeps: a day after it has expired, on the hour, so that most
-- appends leave it as it is.
local function kept_until(expires_at)
  return expires_at ~= NEVER and math.ceil(expires_at / HOUR) * HOUR + SECOND_CHANCE
end

-- Not where a test says what time it is, for the server goes by its own clock.
local function keep(expires_at)
  if not system then return end
  local till = kept_until(expires_at)
  for i = 1, 3 do
    if till then
      redis.call('PEXPIREAT', KEYS[i], plain(till))
    else
      redis.call('PERSIST', KEYS[i])
    end
  end
end

-- Lists when a sweep is to look at the session.
local function list(expires_at)
  if expires_at == NEVER then
    redis.call('ZREM', KEYS[5], ARGV[2])
  else
    redis.call('ZADD', KEYS[5], expires_at, ARGV[2])
  end
end

local function announce()
  local count = redis.call('INCR', KEYS[7])
  redis.call('XADD', KEYS[6], 'MAXLEN', '~', CHANGES_KEPT, '*', 'count', count, 'session', ARGV[2], 'by', ARGV[3])
end

local function unlease()
  redis.call('ZREM', KEYS[8], ARGV[2])
  redis.call('HDEL', KEYS[9], ARGV[2])
end

-- Removes all there is of the session. Says whether the list of those that expire had it.
local function bury()
  redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
  redis.call('ZREM', KEYS[4], ARGV[2])
  unlease()
  return redis.call('ZREM', KEYS[5], ARGV[2]) == 1
end
