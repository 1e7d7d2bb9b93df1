-- Returns 1 if there was a session. An expired session is removed too, without an announcement.
local row = look()
remove_session()
if not row then return 0 end
announce(session)
return 1
