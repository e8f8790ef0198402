-- The law of the sliding log, over a ring that stays in Redis: capacity, head, count, zero, then `capacity` stamps.
-- Made only where a call has such a check, so that the others do not pay for its functions.
local function sliding_log()
  local HEADER, CAPACITY_MIN = 16, 8
  local READ_AT_ONCE = 1024 -- stamps; of a longer ring, only those needed are read
  local READ_TO = '8207' -- the last of their bytes
  local unpack_bytes = struct.unpack

  -- A key's ring, or an error. `bytes` is its beginning, as far as it was read; `pending` are the tokens that this request
  -- would add.
  local function open(key)
    local bytes = redis.pcall('GETRANGE', key, '0', READ_TO)
    if type(bytes) == 'table' then return bytes end
    local ring = {key = key, bytes = bytes, capacity = 0, head = 0, count = 0, pending = 0,
                  now = false, ahead = 0, gone = 0, live = nil}
    local size = #bytes
    if size == 0 and redis.call('EXISTS', key) == 0 then return ring end
    if size >= HEADER then
      ring.capacity, ring.head, ring.count = unpack_bytes('<I4I4I4', bytes)
      if ring.capacity > READ_AT_ONCE then size = redis.call('STRLEN', key) end
    end
    if size ~= HEADER + 8 * ring.capacity or math.frexp(ring.capacity) ~= 0.5 then
      return {err = 'BADSTATE a log of ' .. size .. ' bytes'}
    end
    return ring
  end

  -- The i-th oldest stamp.
  local function stamp(ring, i)
    local offset = HEADER + 8 * ((ring.head + i) % ring.capacity)
    if offset < #ring.bytes then return (unpack_bytes('<I8', ring.bytes, offset + 1)) end
    return (unpack_bytes('<I8', redis.call('GETRANGE', ring.key, offset, offset + 7)))
  end

  -- How many stamps are at or before `edge`; the newest is not.
  local function expired(ring, edge)
    if stamp(ring, 0) > edge then return 0 end
    local low, high = 1, ring.count - 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      if stamp(ring, middle) > edge then high = middle else low = middle + 1 end
    end
    return low
  end

  -- Sets the ring's time (`now`, ticks that it is `ahead` of the clock), how many stamps have `gone`, and `live`: the ticks
  -- that its key has to live if it is written, nil where they were set before.
  local function advance(ring, now, far, period)
    local newest = ring.count > 0 and stamp(ring, ring.count - 1)
    ring.now, ring.ahead, ring.gone = now, 0, ring.count
    if newest and newest - now <= far then
      if newest > now then ring.now, ring.ahead = newest, newest - now end
      if newest > ring.now - period then ring.gone = expired(ring, ring.now - period) end
      if newest - newest % period == ring.now - ring.now % period then return end -- the same slot
    end
    ring.live = 2 * period
  end

  -- Ticks until the i-th oldest of the live tokens expires; those not yet written count from now.
  local function until_expired(ring, period, i)
    if i >= ring.count - ring.gone then return period + ring.ahead end
    return stamp(ring, ring.gone + i) + period - ring.now + ring.ahead
  end

  -- Returns the decision in ticks (allowed, remaining, retry_after, more_after, reset_after; the tokens taken, where
  -- it is `at_most`), whether it is allowed, and, where it charges, the ring with the charge in `pending`, and its `live`.
  local function decide(ring, now, far, period, limit, cost, at_most)
    if not ring.now then advance(ring, now, far, period) end
    local live = ring.count - ring.gone + ring.pending
    if at_most and live + cost > limit then cost = live < limit and limit - live or 0 end
    local never = cost > limit
    if limit == 0 then return {never and 0 or 1, 0, never and -1 or 0, 0, 0, at_most and cost or nil}, not never end

    local allowed = cost == 0 or live + cost <= limit
    local retry, more, reset = 0, 0, 0
    if never then
      retry = -1
    elseif not allowed then
      retry = until_expired(ring, period, live + cost - limit - 1)
    else
      live = live + cost
    end
    local remaining = live < limit and limit - live or 0
    if remaining < limit then more = until_expired(ring, period, live + remaining - limit) end
    if live > 0 then reset = until_expired(ring, period, live - 1) end
    local found = {allowed and 1 or 0, remaining, retry, more, reset, at_most and cost or nil}
    if not allowed or cost == 0 then return found, allowed end
    ring.pending = ring.pending + cost
    return found, true, ring, ring.live
  end

  -- The ring's bytes in a larger one: the stamps held, expired ones too, from slot 0 on, then what is pending.
  local function grown(ring, capacity, added)
    local held = ''
    if ring.count > 0 then
      local bytes = ring.bytes
      if #bytes < HEADER + 8 * ring.capacity then bytes = redis.call('GET', ring.key) end
      local before_end = math.min(ring.count, ring.capacity - ring.head)
      held = bytes:sub(HEADER + 8 * ring.head + 1, HEADER + 8 * (ring.head + before_end))
          .. bytes:sub(HEADER + 1, HEADER + 8 * (ring.count - before_end))
    end
    local fit = math.min(ring.pending, capacity - ring.count)
    local wrapped = ring.pending - fit -- these take the place of expired ones
    return struct.pack('<I4I4I4I4', capacity, ring.gone, ring.count - ring.gone + ring.pending, 0)
        .. added:rep(wrapped) .. held:sub(8 * wrapped + 1) .. added:rep(fit)
        .. ('\0'):rep(8 * (capacity - ring.count - fit))
  end

  -- Writes what is pending. `px`: the key's time to live in ms, nil to keep what it has. Returns the error,
  -- where there is one: only the first write may fail.
  local function write(ring, px)
    local added = struct.pack('<I8', ring.now)
    local count = ring.count - ring.gone + ring.pending
    local capacity = ring.capacity > 0 and ring.capacity or CAPACITY_MIN
    while capacity < count do capacity = 2 * capacity end
    if capacity > ring.capacity then
      local bytes, done = grown(ring, capacity, added)
      if px then
        done = redis.pcall('SET', ring.key, bytes, 'PX', px)
      else
        done = redis.pcall('SET', ring.key, bytes, 'KEEPTTL')
      end
      return done.err and done
    end
    local slot = (ring.head + ring.count) % capacity
    local fit = capacity - slot < ring.pending and capacity - slot or ring.pending
    local done = redis.pcall('SETRANGE', ring.key, HEADER + 8 * slot, added:rep(fit))
    if type(done) == 'table' then return done end
    if fit < ring.pending then redis.call('SETRANGE', ring.key, HEADER, added:rep(ring.pending - fit)) end
    redis.call('SETRANGE', ring.key, '4', struct.pack('<I4I4', (ring.head + ring.gone) % capacity, count))
    if px then redis.call('PEXPIRE', ring.key, px) end
  end

  return {open = open, decide = decide, write = write}
end
