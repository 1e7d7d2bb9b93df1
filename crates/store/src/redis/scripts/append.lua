-- ARGV  4 the expected number and 5 tag; 6 the new number and 7 tag; 8 when it expires; 9 what becomes of
--       the lease, 'as_before', 'due' or 'done', and where it is due 10 whose and 11 for how long; 12 how many entries; of each
--       its text, type, subject, time (or nothing), how many keys, the keys; then how many values, and of each its hash
--       and its text.
-- Gives 'ok', {'conflict', row or nil} or {'taken', key, number}. All is looked at before anything is written, for what
-- a script has written stays written.
--
-- It runs for every entry, and functions and tables cost more here than what they do.
local AT_ONCE = 1000 -- So many words a command takes at least.
local min = math.min

-- The row, and of each entry the numbers of its words and who claimed its keys.
local fields, found = {'row'}, {}
local at, many = 13, 1
for _ = 1, ARGV[12] do
  fields[many + 1], fields[many + 2] = 't' .. ARGV[at + 1], 's' .. ARGV[at + 2]
  many = many + 2
  for key = at + 5, at + 4 + ARGV[at + 4] do
    many = many + 1
    fields[many] = 'c' .. ARGV[key]
  end
  at = at + 5 + ARGV[at + 4]
end
for from = 1, many, AT_ONCE do
  local part = redis.call('HMGET', KEYS[1], unpack(fields, from, min(many, from + AT_ONCE - 1)))
  for i = 1, #part do found[from + i - 1] = part[i] end
end

local row = parse(found[1])
local before = row or {seq = '0', tag = string.rep('0', 32), filed = '0', words = '0'}
if before.seq ~= ARGV[4] or before.tag ~= ARGV[5] then return {'conflict', row and row.text} end

-- What is written: first the row, which is told at the end.
local writes, size, waits, fresh = {'row', false}, 2, {}, {}
local seq, filed, words = tonumber(before.seq), tonumber(before.filed), tonumber(before.words)
local number = seq
at, many = 13, 1
for n = 1, ARGV[12] do
  number = number + 1
  local named = plain(number)
  for i = many + 1, many + 2 + ARGV[at + 4] do
    local field, known = fields[i], row and found[i] or fresh[fields[i]]
    local is_key = i > many + 2
    if known and is_key then return {'taken', string.sub(field, 2), known} end
    if not known then
      if not is_key then words = words + 1 end
      known = is_key and named or plain(words)
      fresh[field] = known
      writes[size + 1], writes[size + 2] = field, known
      size = size + 2
    end
    found[i] = known
  end
  waits[n] = found[many + 1] .. ' ' .. found[many + 2] .. ' ' .. ARGV[at + 3]
  writes[size + 1], writes[size + 2] = named, ARGV[at]
  size, many, at = size + 2, many + 2 + ARGV[at + 4], at + 5 + ARGV[at + 4]
end

local is_filed = number - filed >= WAITING
local members = is_filed and places(filed, seq, waits)
if not is_filed then
  for n = 1, #waits do
    writes[size + 1], writes[size + 2] = slot(seq + n), waits[n]
    size = size + 2
  end
end
local born = row and row.born or string.sub(ARGV[13], 1, 32)
writes[2] = written(ARGV[6], ARGV[7], ARGV[8], plain(now), born, is_filed and ARGV[6] or before.filed, plain(words))

-- The first write is one that a server without memory refuses; what follows it is then let through.
if not row then
  redis.call('ZADD', KEYS[4], 0, ARGV[2])
  redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
end
for from = 1, size, AT_ONCE do redis.call('HSET', KEYS[1], unpack(writes, from, min(size, from + AT_ONCE - 1))) end
if is_filed then
  for from = 1, #members, AT_ONCE do
    redis.call('ZADD', KEYS[2], unpack(members, from, min(#members, from + AT_ONCE - 1)))
  end
end
for value = at + 1, at + 2 * ARGV[at], 2 do redis.call('HSETNX', KEYS[1], 'v' .. ARGV[value], ARGV[value + 1]) end

if ARGV[9] == 'due' then
  redis.call('ZADD', KEYS[8], plain(now + ARGV[11]), ARGV[2])
  redis.call('HSET', KEYS[9], ARGV[2], ARGV[10])
elseif ARGV[9] == 'done' or not row then
  unlease()
end
if not row or is_filed and filed == 0 or kept_until(row.expires_at) ~= kept_until(ARGV[8]) then keep(ARGV[8]) end
if not row or row.expires_at ~= ARGV[8] then list(ARGV[8]) end
announce()
return 'ok'
