-- ARGV  4 'forward' or 'backward'; 5 the first position and 6 the one after the last; 7 the most entries; 8 which index:
--       'all', 'types', 'subjects', 'pairs' or 'times'; 9 how many types, the types, the subjects.
-- Returns nothing if there is no session, else {born, whether there may be more, entry, entry, ...}: as many entries as
-- wanted, or fewer once they have four million bytes. A missing entry is replaced by its number.
--
-- A position is the entry's number in 16 digits; in the index of times it follows the time in 16 digits.
local BYTES = 4000000
local row = look()
if not row then return false end

local backward, lower, upper, limit, which = ARGV[4] == 'backward', ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]
local wanted = {}

local function block_of(number)
  return math.floor((number - 1) / BLOCK)
end

local function words(mark, from, to)
  local found, seen = {}, {}
  for i = from, to do
    local number = redis.call('HGET', journal, mark .. ARGV[i])
    if number and not seen[number] then
      seen[number] = true
      found[#found + 1] = number
    end
  end
  return found
end

-- The members of the index from `from` to before `behind`, which need not be members.
local function range(from, behind, most)
  if backward then return redis.call('ZRANGE', index, '(' .. behind, '[' .. from, 'BYLEX', 'REV', 'LIMIT', 0, most) end
  return redis.call('ZRANGE', index, '[' .. from, '(' .. behind, 'BYLEX', 'LIMIT', 0, most)
end

-- Looks up the entries that have a word. Each member lists those of a block; the blocks at both ends may have entries
-- outside the range.
local function look_up(word)
  local first, behind, found = tonumber(lower), tonumber(upper), 0
  local place = word .. ':'
  local of_blocks =
    range(place .. digits(block_of(first)), place .. digits(block_of(behind - 1) + 1), limit + 1)
  for _, member in ipairs(of_blocks) do
    if found >= limit then return end
    local block, offsets = string.match(member, '(%d+):(%d+)$', #place + 1)
    for at = 1, #offsets, 2 do
      local offset = string.sub(offsets, at, at + 1)
      local number = block * BLOCK + 1 + offset
      if number >= first and number < behind then
        wanted[#wanted + 1] = digits(number)
        found = found + 1
      end
    end
  end
end

local function look_up_times(pair)
  local prefix = '@' .. pair .. ':'
  for _, member in ipairs(range(prefix .. lower, prefix .. upper, limit)) do
    wanted[#wanted + 1] = string.sub(member, #prefix + 1)
  end
end

local function set(list)
  local set = {}
  for _, word in ipairs(list) do set[word] = true end
  return set
end

-- Replaces ':', so that a bound sorts after all digits in every locale of the server.
local function bound(text)
  return (string.gsub(text, ':', 'a'))
end

-- Scans the entries that are not in the index yet.
local function look_through(types, subjects)
  local any_type, any_subject = which == 'subjects', which == 'types'
  local first, behind = bound(lower), bound(upper)
  types, subjects = set(types), set(subjects)
  for i, text in ipairs(waiting(tonumber(row.filed), tonumber(row.seq))) do
    local kind, subject, time = string.match(text, WAITS)
    local place = digits(row.filed + i)
    if which == 'times' then place = time ~= '' and time .. place end
    if (any_type or types[kind]) and (any_subject or subjects[subject]) and place and place >= first and place < behind then
      wanted[#wanted + 1] = place
    end
  end
end

if which == 'all' then
  local first, last = tonumber(lower), math.min(tonumber(upper) - 1, tonumber(row.seq))
  if backward then
    for n = last, math.max(first, last - limit + 1), -1 do wanted[#wanted + 1] = digits(n) end
  else
    for n = first, math.min(last, first + limit - 1) do wanted[#wanted + 1] = digits(n) end
  end
else
  local behind = 9 + tonumber(ARGV[9])
  local types, subjects = words('t', 10, behind), words('s', behind + 1, #ARGV)
  if which == 'types' then
    for _, kind in ipairs(types) do look_up('t' .. kind) end
  elseif which == 'subjects' then
    for _, subject in ipairs(subjects) do look_up('s' .. subject) end
  else
    for _, subject in ipairs(subjects) do
      for _, kind in ipairs(types) do
        local pair = subject .. '.' .. kind
        if which == 'times' then look_up_times(pair) else look_up('p' .. pair) end
      end
    end
  end
  look_through(types, subjects)
  if backward then
    table.sort(wanted, function(a, b) return a > b end)
  else
    table.sort(wanted)
  end
end

local found, bytes, more = {row.born, 0}, 0, #wanted >= limit
for i = 1, math.min(#wanted, limit) do
  if bytes >= BYTES then
    more = true
    break
  end
  local number = plain(tonumber(string.sub(wanted[i], -16)))
  local text = redis.call('HGET', journal, number)
  found[i + 2] = text or tonumber(number)
  bytes = bytes + #(text or '')
end
found[2] = more and 1 or 0
return found
