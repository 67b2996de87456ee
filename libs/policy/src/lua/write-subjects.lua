--[[ write-subjects: write one bucket of the overrides of single subjects, only what differs.

KEYS[1]  subjects
ARGV[1]  `revision.generation` of the publisher, as open-subjects wrote it
ARGV[2]  field of the bucket's digest, '' for none      ARGV[3]  its digest, '' for none: the bucket counts as changed
ARGV[4..]  field, text; field, text; ...     where the text is '' the field is removed
Reply    number of fields held, those that begin with # included | 0 when a newer publisher has begun
Guarantee  an older publisher overwrites nothing.
]]
if redis.call('HGET', KEYS[1], '#revision') ~= ARGV[1] then
  return 0
end
for index = 4, #ARGV, 2 do
  local field, text = ARGV[index], ARGV[index + 1]
  if text == '' then
    redis.call('HDEL', KEYS[1], field)
  elseif redis.call('HGET', KEYS[1], field) ~= text then
    redis.call('HSET', KEYS[1], field, text)
  end
end
if ARGV[2] ~= '' and ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[2])
elseif ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
end
return redis.call('HLEN', KEYS[1])
