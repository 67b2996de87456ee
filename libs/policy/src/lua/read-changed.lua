--[[ read-changed: read a document, sending it only if it differs from what the caller has.

KEYS[1]  document
ARGV[1]  SHA-1 in hex of the text the caller has, '' for none
Reply    false when absent, '' when the caller has it, else its text
Guarantee  reads only; cheap enough for each node and second.
]]
local text = redis.call('GET', KEYS[1])
if text and redis.sha1hex(text) == ARGV[1] then
  return ''
end
return text
