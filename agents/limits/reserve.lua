-- One request's slot, turn and tokens, all or nothing, on this server's clock.
-- KEYS: requests' arrival time, tokens' arrival time, pause, leases, processes
-- ARGV: lease, its seconds, concurrency, requests' interval (0: no limit), tokens' interval (0: no limit), tokens,
--       tolerance, process, its seconds
-- Returns: lease, seconds to wait ('-1': reserved), 1 if the server asked for a pause, processes seen.
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local requests_interval, tokens_interval = tonumber(ARGV[4]), tonumber(ARGV[5])
local tolerance = tonumber(ARGV[7])

redis.call('ZADD', KEYS[5], now + ARGV[9], ARGV[8])
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now)
redis.call('EXPIRE', KEYS[5], math.ceil(ARGV[9]))
local processes = redis.call('ZCARD', KEYS[5])

local function refused(wait, paused)
  return {ARGV[1], string.format('%.6f', wait), paused, processes}
end

local paused = tonumber(redis.call('GET', KEYS[3]) or '0') - now
if paused > 0 then return refused(paused, 1) end

redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[3]) then return refused(0, 0) end

local function arrival(key) return math.max(tonumber(redis.call('GET', key) or '0'), now) end
local requests_arrival, tokens_arrival = arrival(KEYS[1]), arrival(KEYS[2])
local wait = 0
if requests_interval > 0 then wait = math.max(wait, requests_arrival - tolerance - now) end
if tokens_interval > 0 then wait = math.max(wait, tokens_arrival - tolerance - now) end
if wait > 0 then return refused(wait, 0) end

local function take(key, from, seconds)
  redis.call('SET', key, string.format('%.6f', from + seconds), 'EX', math.ceil(from + seconds - now) + 60)
end
if requests_interval > 0 then take(KEYS[1], requests_arrival, requests_interval) end
if tokens_interval > 0 then take(KEYS[2], tokens_arrival, tokens_interval * ARGV[6]) end
redis.call('ZADD', KEYS[4], now + ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[4], math.ceil(ARGV[2]))
return {ARGV[1], '-1', 0, processes}
