-- What every script begins with: the time, and the session that it is about.
--
-- KEYS  what all sessions share: 1 sessions, 2 expiry, 3 changes, 4 count, 5 leases, 6 holders, 7 listed, 8 used. Behind
--       them all there is of the session: 9 journal, 10 index, 11 snapshots.
-- ARGV  1 the time now in milliseconds, or nothing for the time of the server; 2 who asks; 3 the session's id.
local session, journal, index, snapshots = ARGV[3], KEYS[9], KEYS[10], KEYS[11]
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
  return string.format('%016d', number)
end

local function plain(number)
  return string.format('%d', number)
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
  return parse(redis.call('HGET', journal, 'row'))
end

-- Entries are put into the index a block at a time, which takes about as long as one of them would. Those that wait for it
-- stand in as many fields as a block has entries, in which their numbers take turns.
local BLOCK = 100
local WAITS = '^(%d+) (%d+) (%d*)$' -- The numbers of the type and the subject, and the time where there is one.

local function slot(number)
  return 'w' .. plain(number % BLOCK)
end

-- What waits, from behind `filed` to `seq`.
local function waiting(filed, seq)
  local slots = {}
  for number = filed + 1, seq do slots[#slots + 1] = slot(number) end
  return #slots > 0 and redis.call('HMGET', journal, unpack(slots)) or {}
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
  for _, key in ipairs({journal, index, snapshots}) do
    if till then
      redis.call('PEXPIREAT', key, plain(till))
    else
      redis.call('PERSIST', key)
    end
  end
end

-- Lists when a sweep is to look at sessions: by each of them when it expires.
local function list(expiring)
  local listed = {}
  for id, expires_at in pairs(expiring) do
    if expires_at == NEVER then
      redis.call('ZREM', KEYS[2], id)
    else
      listed[#listed + 1] = expires_at
      listed[#listed + 1] = id
    end
  end
  if #listed > 0 then redis.call('ZADD', KEYS[2], unpack(listed)) end
end

-- Tells that these sessions changed, whose ids have a space between them.
local function announce(sessions)
  local count = redis.call('INCR', KEYS[4])
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', CHANGES_KEPT, '*', 'count', count, 'by', ARGV[2], 'sessions', sessions)
end

-- Lists when the session was used last. One that is new is listed by its id too, unless it is a request.
local function use(is_request, is_new)
  local added = redis.call('ZADD', KEYS[8], is_request and plain(-now) or plain(now), session)
  if is_new and is_request then
    redis.call('ZREM', KEYS[7], session)
  elseif (is_new or added == 1) and not is_request then
    redis.call('ZADD', KEYS[7], 0, session)
  end
end

local function remove_lease()
  redis.call('ZREM', KEYS[5], session)
  redis.call('HDEL', KEYS[6], session)
end

-- Removes all there is of the session. Says whether the list of those that expire had it.
local function remove_session()
  redis.call('UNLINK', journal, index, snapshots)
  for _, list in ipairs({KEYS[1], KEYS[7], KEYS[8]}) do redis.call('ZREM', list, session) end
  remove_lease()
  return redis.call('ZREM', KEYS[2], session) == 1
end
