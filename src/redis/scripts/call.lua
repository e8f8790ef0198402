-- One call: any number of requests, each of one or several checks that are all charged or none.
--
-- KEYS     the key of each check, in order; one may stand there several times.
-- ARGV[1]  records of 24 bytes, each for the next `count` checks: algorithm, flags (1: the request goes on after each of
--          them; 2: take at most `cost`; 4, in the first record: no log among them, read all keys at once), count, period,
--          limit, capacity, tick in us, cost.
-- ARGV[2]  for tests alone, absent otherwise: the time in us, and ARGV[3] a time to live in ms in place of the rule's.
--
-- Returns the time in us, then for each check in order its integers: the state as it stood before that check, two for a
-- bucket, three for a window, zeros where there was none (a request's earlier checks count as charged where they are
-- allowed); for a log the decision, five in ticks, and the tokens taken where it is "at most". An error stands in place of
-- a check's first. All in one array: an array for each check costs a fifth of a batch. A request with an error among its
-- checks is not charged, and does not disturb the others. Denials and peeks write nothing.
--@include log.lua
local BUCKETS, SLIDING, LOG = 2, 3, 4 -- algorithms: buckets are those below 2
local LONGEST_PX = 9007199254740 -- 2^53 us
local pcall, pack_bytes, unpack_bytes = redis.pcall, struct.pack, struct.unpack
local keys, ops = KEYS, ARGV[1]
local now_us
if ARGV[2] then
  now_us = tonumber(ARGV[2])
else
  local time = redis.call('TIME')
  now_us = time[1] * 1000000 + time[2]
end

-- What is known of the keys where there are several: their bytes, as this call read or wrote them.
local known = keys[2] and {}
if known and ops:byte(2) >= 4 then
  local values = pcall('MGET', unpack(keys))
  if not values.err then
    -- nil may also be a key of another type: those are asked for one by one
    for i = 1, #keys do known[keys[i]] = values[i] or nil end
  end
end

-- Writes one key's next state (a log's: its ring). Returns the error, where there is one.
local function write(key, next, live, tick, law)
  local px
  if live then px = ARGV[3] or math.min(math.ceil(live * tick / 1000), LONGEST_PX) end
  if law then return law.write(next, px) end
  if px then
    local done = redis.pcall('SET', key, next, 'PX', px)
    return done.err and done
  end
  local size = redis.pcall('SETRANGE', key, '0', next) -- keeps the time to live, and is faster than SET with KEEPTTL
  return size ~= 16 and size
end

local log -- the sliding log's law, once it is needed
local reply, place = {now_us, 0, 0}, 2 -- where the next check's first integer goes
local changes, order, refused -- of a request of several checks that is under way: by key, the keys in order, "charge none"
local done, at = 0, 1
while at <= #ops do
  local algorithm, flags, count, period, limit, capacity, tick, cost
  algorithm, flags, count, period, limit, capacity, tick, cost, at = unpack_bytes('<I1I1I2I4I4I4I4I4', ops, at)
  local goes_on, at_most = flags % 2 == 1, flags % 4 >= 2
  local now = (now_us - now_us % tick) / tick
  local slot = now - now % period -- when it began
  local window, left, full = slot / period, slot + period - now, capacity * period
  local far = 10000000 / tick -- a time held further ahead than this or the period is a clock's mistake
  if far < period then far = period end
  local width = algorithm < BUCKETS and 2 or 3 -- integers of a check
  local law -- the log's, where it is one
  if algorithm == LOG then
    log = log or sliding_log()
    law, width = log, at_most and 6 or 5
  end

  for i = done + 1, done + count do
    local key, tokens = keys[i], cost
    local change = changes and changes[key]
    local first, second, third = 0, 0, 0
    local allowed, next, live
    if law then
      local ring = change and change.next or law.open(key)
      if ring.err then
        for j = 0, width - 1 do reply[place + j] = j == 0 and ring or 0 end
      else
        local told
        told, allowed, next, live = law.decide(ring, now, far, period, limit, cost, at_most)
        for j = 1, width do reply[place + j - 1] = told[j] end
      end
    else
      local value
      if change then value = change.next elseif known then value = known[key] end
      if value == nil then
        value = pcall('GET', key)
        if known then known[key] = value end
      end
      if value and #value ~= 16 then
        first = value.err and value or {err = 'BADSTATE a state of ' .. #value .. ' bytes'}
      elseif algorithm < BUCKETS then
        --@include bucket.lua
      else
        --@include window.lua
      end
      reply[place], reply[place + 1] = first, second
      if width == 3 then reply[place + 2] = third end
    end

    if not goes_on and not changes then -- alone
      if next then
        local failed
        if live or law then
          failed = write(key, next, live, tick, law)
        else -- what most checks do, so without write's call
          local size = pcall('SETRANGE', key, '0', next)
          failed = size ~= 16 and size
        end
        if failed then reply[place] = failed elseif known then known[key] = next end
      end
    else
      changes, order = changes or {}, order or {}
      if not allowed then
        refused = true
      elseif change then
        change.next, change.live = next or change.next, live or change.live
      elseif next then
        changes[key] = {next = next, live = live, tick = tick, law = law, place = place}
        order[#order + 1] = key
      end
      if not goes_on then
        for _, name in ipairs(refused and {} or order) do
          local c = changes[name]
          local failed = write(name, c.next, c.live, c.tick, c.law)
          if failed then reply[c.place] = failed elseif known then known[name] = c.next end
        end
        changes, order, refused = nil, nil, nil
      end
    end
    place = place + width
  end
  done = done + count
end
return reply
