-- ARGV  4 the expected number and 5 tag; 6 the new number and 7 tag; 8 when it expires; 9 what becomes of
--       the lease, 'as_before', 'due' or 'done', and where it is due 10 whose and 11 for how long; then the entries: how many, and
--       of each its text, type, subject, time (or nothing), how many keys, the keys; then how many values, and of each
--       its hash and its text.
-- Gives 'ok', {'conflict', row or nil} or {'taken', key, number}. All is looked at before anything is written, for what
-- a script has written stays written.
local at = 11
local function take()
  at = at + 1
  return ARGV[at]
end

local row = look()
local seq, tag = '0', string.rep('0', 32)
if row then seq, tag = row[1], row[2] end
if seq ~= ARGV[4] or tag ~= ARGV[5] then return {'conflict', row} end

local entries, claimed = {}, {}
for n = 1, tonumber(take()) do
  local entry = {seq = plain(tonumber(seq) + n), text = take(), kind = take(), subject = take(), time = take()}
  for _ = 1, tonumber(take()) do
    local key = take()
    local by = claimed[key] or (row and redis.call('HGET', KEYS[5], key))
    if by then return {'taken', key, by} end
    claimed[key] = entry.seq
  end
  entries[n] = entry
end

-- The first write is one that a server without memory refuses; what follows it is then let through.
local born = row and row[5] or string.sub(entries[1].text, 1, 32)
redis.call('HSET', KEYS[1], 'seq', ARGV[6], 'tag', ARGV[7], 'expires_at', ARGV[8], 'last_activity', plain(now),
  'born', born)
if not row then redis.call('UNLINK', unpack(KEYS, 2, 7)) end
if ARGV[9] == 'due' then
  redis.call('ZADD', KEYS[12], plain(now + ARGV[11]), ARGV[2])
  redis.call('HSET', KEYS[13], ARGV[2], ARGV[10])
elseif ARGV[9] == 'done' or not row then
  unlease()
end

local function word(text)
  local number = redis.call('HGET', KEYS[4], text)
  if not number then
    number = plain(redis.call('HLEN', KEYS[4]) + 1)
    redis.call('HSET', KEYS[4], text, number)
  end
  return number
end

for _, entry in ipairs(entries) do
  local kind, subject, place = word('t' .. entry.kind), word('s' .. entry.subject), digits(tonumber(entry.seq))
  local pair = subject .. '.' .. kind .. ':'
  redis.call('HSET', KEYS[2], entry.seq, entry.text)
  redis.call('ZADD', KEYS[3], 0, 't' .. kind .. ':' .. place, 0, 's' .. subject .. ':' .. place, 0, 'p' .. pair .. place)
  if entry.time ~= '' then redis.call('ZADD', KEYS[3], 0, '@' .. pair .. entry.time .. place) end
end
for key, by in pairs(claimed) do redis.call('HSET', KEYS[5], key, by) end
for _ = 1, tonumber(take()) do redis.call('HSETNX', KEYS[6], take(), take()) end

keep(ARGV[8])
list(ARGV[8])
announce()
return 'ok'
