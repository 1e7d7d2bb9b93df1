-- Returns 1 if this has removed an expired session. A session that has not expired is rescheduled. If the server itself
-- has removed the session, the call that takes it off the list returns 1.
local row, there = look()
if row then
  list({[session] = row.expires_at})
  return 0
end
if not remove_session() and not there then return 0 end
announce(session)
return 1
