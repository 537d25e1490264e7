-- What happened to one process's leases since the last time: given back, still held; tokens corrected; a pause.
-- KEYS: as in reserve.lua
-- ARGV: lease's seconds, tokens' interval, tokens more than were reserved, pause in seconds, process, its seconds,
--       requests' interval, requests given back unused, how many leases are held, these, those given back
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6

local function shift(key, seconds)
  local arrival = (tonumber(redis.call('GET', key)) or now) + seconds
  if seconds ~= 0 and arrival > now then
    redis.call('SET', key, string.format('%.6f', arrival), 'EX', math.ceil(arrival - now) + 60)
  elseif seconds ~= 0 then
    redis.call('DEL', key)
  end
end
shift(KEYS[1], -ARGV[7] * ARGV[8])
shift(KEYS[2], ARGV[2] * ARGV[3])

local until_ = now + ARGV[4]
if tonumber(ARGV[4]) > 0 and until_ > tonumber(redis.call('GET', KEYS[3]) or '0') then
  redis.call('SET', KEYS[3], string.format('%.6f', until_), 'EX', math.ceil(ARGV[4]))
end

local held = tonumber(ARGV[9])
for place = 10, 9 + held do redis.call('ZADD', KEYS[4], now + ARGV[1], ARGV[place]) end
for place = 10 + held, #ARGV do redis.call('ZREM', KEYS[4], ARGV[place]) end
if held > 0 then redis.call('EXPIRE', KEYS[4], math.ceil(ARGV[1])) end
redis.call('ZADD', KEYS[5], now + ARGV[6], ARGV[5])
redis.call('EXPIRE', KEYS[5], math.ceil(ARGV[6]))
return 1
