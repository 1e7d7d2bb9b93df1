-- Returns the row, or nothing.
local row = look()
return row and row.text
