--[[ read-changed: read documents, sending only those that differ from what the caller has.

KEYS[i]  document i
ARGV[i]  SHA-1 in hex of the text the caller has of it, '' for none
Reply    one item a document: false when absent, '' when the caller has it, else its text
Guarantee  reads only; cheap enough for each node and second.
]]
local reply = {}
for index, key in ipairs(KEYS) do
  local text = redis.call('GET', key)
  if text and redis.sha1hex(text) == ARGV[index] then
    text = ''
  end
  reply[index] = text
end
return reply
