-- Gives 1 where there was a session. One that had expired goes too, and nobody is told of it.
local row = look()
remove_session()
if not row then return 0 end
announce(session)
return 1
