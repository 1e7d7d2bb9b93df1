-- The beginning of every script: the time, the session, and shared functions.
--
-- KEYS  shared by all sessions: 1 sessions, 2 expiry, 3 changes, 4 count, 5 leases, 6 holders, 7 listed, 8 used. Then those
--       of the session: 9 journal, 10 index, 11 snapshots.
-- ARGV  1 the time in milliseconds, or empty for the time of the server; 2 the name of the handle; 3 the id of the session.
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

-- Parses a row. Returns the row if the session has not expired, and whether there is a row at all. `filed` is the last
-- entry in the index; `words` is how many words have an id.
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

-- Entries are indexed in blocks: a block takes about as long as a single entry would. Entries that are not indexed yet are
-- in as many fields as a block has entries; an entry's field is its number modulo the size of a block.
local BLOCK = 100
local WAITS = '^(%d+) (%d+) (%d*)$' -- The ids of the type and the subject, and the time if there is one.

local function slot(number)
  return 'w' .. plain(number % BLOCK)
end

-- The entries that are not indexed, from `filed` + 1 to `seq`.
local function waiting(filed, seq)
  local slots = {}
  for number = filed + 1, seq do slots[#slots + 1] = slot(number) end
  return #slots > 0 and redis.call('HMGET', journal, unpack(slots)) or {}
end

-- When the server itself removes a session that nobody sweeps: a day after it expires, rounded up to the hour, so that most
-- appends need not change it.
local function kept_until(expires_at)
  return expires_at ~= NEVER and math.ceil(expires_at / HOUR) * HOUR + SECOND_CHANCE
end

-- Sets that time, except in tests with their own clock, since the server uses its own.
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

-- Updates the list by which sweeps find sessions. `expiring` says when each session expires.
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

-- Announces that these sessions changed. The ids are separated by spaces.
local function announce(sessions)
  local count = redis.call('INCR', KEYS[4])
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', CHANGES_KEPT, '*', 'count', count, 'by', ARGV[2], 'sessions', sessions)
end

-- Updates the list by last use. A new session is also added to the list of sessions, unless it is a request.
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

-- Removes the session and all its data. Returns whether it was in the list of expiring sessions.
local function remove_session()
  redis.call('UNLINK', journal, index, snapshots)
  for _, list in ipairs({KEYS[1], KEYS[7], KEYS[8]}) do redis.call('ZREM', list, session) end
  remove_lease()
  return redis.call('ZREM', KEYS[2], session) == 1
end
