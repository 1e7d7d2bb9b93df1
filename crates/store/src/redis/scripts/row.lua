-- Gives the row, or nothing.
return (look())
