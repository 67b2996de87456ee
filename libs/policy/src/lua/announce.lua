--[[ announce: add entries to the change feed, in order.

KEYS[1]  change feed
ARGV[1]  about how many entries it keeps
ARGV[2..]  topic, subject, revision, change id; topic, subject, revision, change id; ...
Reply    their ids
Guarantee  an entry that Redis refuses ends the call with an error; those before it stand, and a repeat announces them again.
]]
local ids = {}
for at = 2, #ARGV, 4 do
  ids[#ids + 1] = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'topic', ARGV[at], 'subject', ARGV[at + 1], 'revision', ARGV[at + 2], 'changeId', ARGV[at + 3])
end
return ids
