-- ARGV  4 and on, fields of the journal. Gives a list of what each has, or an empty one where there is no session.
local AT_ONCE = 1000 -- So many words a command takes at least.
if not look() then return {} end
local found = {}
for from = 4, #ARGV, AT_ONCE do
  local part = redis.call('HMGET', journal, unpack(ARGV, from, math.min(#ARGV, from + AT_ONCE - 1)))
  for i = 1, #part do found[from - 4 + i] = part[i] end
end
return found
