-- ARGV  4 'forward' or 'backward'; 5 the first place and 6 the one behind the last, in text; 7 how many; 8 which index:
--       'all', 'types', 'subjects', 'pairs' or 'times'; 9 how many types, the types, the subjects.
-- Gives nothing where there is no session, or {born, whether there may be more, entry, entry, ...}: as many as wanted,
-- or fewer that have four million bytes together. A number stands in the place of an entry that is missing.
--
-- A place is the entry's number in 16 digits, in the index of times behind the time in 16 digits.
local BYTES = 4000000
local row = look()
if not row then return false end

local backward, lower, upper, limit, which = ARGV[4] == 'backward', ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]
local wanted = {}

local function words(mark, from, to)
  local found, seen = {}, {}
  for i = from, to do
    local number = redis.call('HGET', KEYS[4], mark .. ARGV[i])
    if number and not seen[number] then
      seen[number] = true
      found[#found + 1] = number
    end
  end
  return found
end

local function look_up(prefix)
  local range
  if backward then
    range = redis.call('ZRANGE', KEYS[3], '(' .. prefix .. upper, '[' .. prefix .. lower, 'BYLEX', 'REV', 'LIMIT', 0, limit)
  else
    range = redis.call('ZRANGE', KEYS[3], '[' .. prefix .. lower, '(' .. prefix .. upper, 'BYLEX', 'LIMIT', 0, limit)
  end
  for _, member in ipairs(range) do wanted[#wanted + 1] = string.sub(member, #prefix + 1) end
end

if which == 'all' then
  local first, last = tonumber(lower), math.min(tonumber(upper) - 1, tonumber(row[1]))
  if backward then
    for n = last, math.max(first, last - limit + 1), -1 do wanted[#wanted + 1] = digits(n) end
  else
    for n = first, math.min(last, first + limit - 1) do wanted[#wanted + 1] = digits(n) end
  end
else
  local behind = 9 + tonumber(ARGV[9])
  local types, subjects = words('t', 10, behind), words('s', behind + 1, #ARGV)
  if which == 'types' then
    for _, kind in ipairs(types) do look_up('t' .. kind .. ':') end
  elseif which == 'subjects' then
    for _, subject in ipairs(subjects) do look_up('s' .. subject .. ':') end
  else
    local mark = which == 'times' and '@' or 'p'
    for _, subject in ipairs(subjects) do
      for _, kind in ipairs(types) do look_up(mark .. subject .. '.' .. kind .. ':') end
    end
  end
  if backward then
    table.sort(wanted, function(a, b) return a > b end)
  else
    table.sort(wanted)
  end
end

local found, bytes, more = {row[5], 0}, 0, #wanted >= limit
for i = 1, math.min(#wanted, limit) do
  if bytes >= BYTES then
    more = true
    break
  end
  local number = plain(tonumber(string.sub(wanted[i], -16)))
  local text = redis.call('HGET', KEYS[2], number)
  found[i + 2] = text or tonumber(number)
  bytes = bytes + #(text or '')
end
found[2] = more and 1 or 0
return found
