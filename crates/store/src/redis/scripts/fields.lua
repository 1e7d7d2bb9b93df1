-- ARGV  from 4: fields of the journal. Returns a list of their values; an empty one if there is no session.
local AT_ONCE = 1000 -- The most arguments of a command.
if not look() then return {} end
local found = {}
for from = 4, #ARGV, AT_ONCE do
  local part = redis.call('HMGET', journal, unpack(ARGV, from, math.min(#ARGV, from + AT_ONCE - 1)))
  for i = 1, #part do found[from - 4 + i] = part[i] end
end
return found
