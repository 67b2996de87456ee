--[[ read-changed: read a document, sending it only if it differs from what the caller has.

KEYS[1]  document
ARGV[1]  SHA-1 in hex of the text the caller has, '' for none
Reply    false when absent or of another type, '' when the caller has it, else its text
Guarantee  reads only; cheap enough for each node and second.
]]
local text = redis.pcall('GET', KEYS[1])
if type(text) ~= 'string' then
  return false
end
if redis.sha1hex(text) == ARGV[1] then
  return ''
end
return text
