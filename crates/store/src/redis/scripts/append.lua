-- KEYS  from 9: for each batch, the journal, index and snapshots of its session.
-- ARGV  from 3, for each batch: how many arguments it has; the id of the session; 'session' or 'request', the same in all
--       batches of a journal; number and tag of the expected head; number and tag of the new head; when it expires; what
--       happens to the lease: 'keep', 'set' or 'remove'; for 'set' the holder and how long it lasts; how many entries; for
--       each entry its text, type, subject, time (or nothing), how many keys, the keys; then how many values, and for
--       each its hash and its text; then how many entries are rewritten, and for each its number and its new data; then
--       how many values are removed, and their hashes.
-- Returns for each batch 'ok', {'conflict', row or nil}, {'taken', key, number} or {'failed', why}. Everything in a batch is
-- checked before anything is written, since a script cannot undo what it has written.
--
-- This script runs for every append. It avoids functions and tables, which are slow here.
local AT_ONCE = 1000 -- The most arguments of a command.
local min = math.min

local function listed(lists, word, offset)
  local list = lists[word]
  if list then
    list[#list + 1] = offset
  else
    lists[word] = {offset}
  end
end

-- The members of the index for the complete blocks after `filed`, each after its score, which is always 0. A member says
-- which entries of a block have a word. An entry with a time has a member of its own, since times need not be in order.
local function members(filed, block)
  local members = {}
  for from = 0, #block - 1, BLOCK do
    local lists = {}
    for offset = 0, BLOCK - 1 do
      local kind, subject, time = string.match(block[from + offset + 1], WAITS)
      local pair, written = subject .. '.' .. kind, string.format('%02d', offset)
      listed(lists, 't' .. kind, written)
      listed(lists, 's' .. subject, written)
      listed(lists, 'p' .. pair, written)
      if time ~= '' then
        members[#members + 1] = 0
        members[#members + 1] = '@' .. pair .. ':' .. time .. digits(filed + from + offset + 1)
      end
    end
    local place = ':' .. digits((filed + from) / BLOCK) .. ':'
    for word, list in pairs(lists) do
      members[#members + 1] = 0
      members[#members + 1] = word .. place .. table.concat(list)
    end
  end
  return members
end

-- Collected for all batches and written at the end: the sessions that changed, and when sessions expire.
local changed, expiring = {}, {}

-- Appends the batch whose arguments begin at `at`. Returns its outcome.
local function append(at)
  local kind, seq_before, tag_before, seq, tag, expires_at, lease, holder, lasts, count = unpack(ARGV, at + 2, at + 11)
  local first = at + 12

  -- Reads the row and, for each entry, the ids of its words and the entries that claimed its keys.
  local fields, found = {'row'}, {}
  local many = 1
  at = first
  for _ = 1, count do
    fields[many + 1], fields[many + 2] = 't' .. ARGV[at + 1], 's' .. ARGV[at + 2]
    many = many + 2
    for key = at + 5, at + 4 + ARGV[at + 4] do
      many = many + 1
      fields[many] = 'c' .. ARGV[key]
    end
    at = at + 5 + ARGV[at + 4]
  end
  local values, last_value = at + 1, at + 2 * ARGV[at]
  local rewrites, last_rewrite = last_value + 2, last_value + 1 + 2 * ARGV[last_value + 1]
  local drops, last_drop = last_rewrite + 2, last_rewrite + 1 + ARGV[last_rewrite + 1]
  for from = 1, many, AT_ONCE do
    local part = redis.call('HMGET', journal, unpack(fields, from, min(many, from + AT_ONCE - 1)))
    for i = 1, #part do found[from + i - 1] = part[i] end
  end

  local row = parse(found[1])
  local before = row or {seq = '0', tag = string.rep('0', 32), filed = '0', words = '0'}
  if before.seq ~= seq_before or before.tag ~= tag_before then return {'conflict', row and row.text} end

  -- Rewritten entries keep their tags and headers, which end with the first line.
  local rewritten = {}
  for at = rewrites, last_rewrite, 2 do
    local header = string.match(redis.call('HGET', journal, ARGV[at]), '^[^\n]*\n')
    rewritten[#rewritten + 1] = ARGV[at]
    rewritten[#rewritten + 1] = header .. ARGV[at + 1]
  end

  -- The fields to write. The first is the row, which is filled in at the end.
  local writes, size, waits, fresh = {'row', false}, 2, {}, {}
  local last, filed, words = tonumber(before.seq), tonumber(before.filed), tonumber(before.words)
  local number = last
  at, many = first, 1
  for n = 1, count do
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

  local filed_now, places = math.max(filed, number - number % BLOCK), {}
  if filed_now > filed then
    local block = waiting(filed, last)
    for n = 1, filed_now - last do block[#block + 1] = waits[n] end
    places = members(filed, block)
  end
  for n = math.max(1, filed_now - last + 1), #waits do
    writes[size + 1], writes[size + 2] = slot(last + n), waits[n]
    size = size + 2
  end
  local born = row and row.born or string.sub(ARGV[first], 1, 32)
  writes[2] = written(seq, tag, expires_at, plain(now), born, plain(filed_now), plain(words))

  -- A server whose memory is full refuses a script at its first write. So the first write must be one that it refuses.
  if not row then
    redis.call('ZADD', KEYS[1], 0, session)
    redis.call('UNLINK', journal, index, snapshots)
  end
  for from = 1, size, AT_ONCE do redis.call('HSET', journal, unpack(writes, from, min(size, from + AT_ONCE - 1))) end
  for from = 1, #places, AT_ONCE do
    redis.call('ZADD', index, unpack(places, from, min(#places, from + AT_ONCE - 1)))
  end
  for value = values, last_value, 2 do redis.call('HSETNX', journal, 'v' .. ARGV[value], ARGV[value + 1]) end

  for drop = drops, last_drop do redis.call('HDEL', journal, 'v' .. ARGV[drop]) end
  if #rewritten > 0 then
    for from = 1, #rewritten, AT_ONCE do
      redis.call('HSET', journal, unpack(rewritten, from, min(#rewritten, from + AT_ONCE - 1)))
    end
    redis.call('UNLINK', snapshots)
    redis.call('HSET', journal, 'rewritten', seq)
  end

  use(kind == 'request', not row)

  if lease == 'set' then
    redis.call('ZADD', KEYS[5], plain(now + lasts), session)
    redis.call('HSET', KEYS[6], session, holder)
  elseif lease == 'remove' or not row then
    remove_lease()
  end
  if not row or filed == 0 and filed_now > 0 or kept_until(row.expires_at) ~= kept_until(expires_at) then keep(expires_at) end
  if not row or row.expires_at ~= expires_at then expiring[session] = expires_at end
  changed[#changed + 1] = session
  return 'ok'
end

local outcomes, at = {}, 3
for key = 9, #KEYS, 3 do
  session, journal, index, snapshots = ARGV[at + 1], KEYS[key], KEYS[key + 1], KEYS[key + 2]
  local ended, outcome = pcall(append, at)
  if not ended then outcome = {'failed', type(outcome) == 'table' and outcome.err or tostring(outcome)} end
  outcomes[#outcomes + 1] = outcome
  at = at + ARGV[at]
end
list(expiring)
if #changed > 0 then announce(table.concat(changed, ' ')) end
return outcomes
