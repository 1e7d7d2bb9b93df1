-- Gives 1 where the session had expired and is gone by this. One that lives is listed as what it is; one that the server
-- itself has removed is gone by whoever takes it off the list.
local row, there = look()
if row then
  list({[session] = row.expires_at})
  return 0
end
if not remove_session() and not there then return 0 end
announce(session)
return 1
