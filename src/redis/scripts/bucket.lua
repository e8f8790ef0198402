-- The law of both buckets. State: used, last. `value` is the key's bytes, false where there is none.
-- Returns the state as it was found; whether the check is allowed; and where it charges: the next bytes and, where the
-- key's time to live has to be set anew, for how many ticks.
local function bucket(value, now, far, period, limit, capacity, cost, at_most)
  local used, last = 0, 0
  if value then used, last = struct.unpack('<I8I8', value) end
  local found = {used, last}
  local ahead = last - now
  if ahead > far then -- a clock was wrong: the key starts fresh
    used, ahead = 0, 0
  elseif ahead > 0 then
    now = last
  else
    -- Not capped as in C: where the product passes 2^53 it is rounded, yet stays above `used`, and the result is 0.
    used = used + ahead * limit
    if used < 0 then used = 0 end
    ahead = 0
  end

  local free = capacity * period - used
  if at_most and cost * period > free then
    cost = free > 0 and math.floor(free / period) or 0
  end
  if cost == 0 then return found, true end
  if cost > capacity or cost * period > free then return found, false end

  local live
  if capacity > limit then
    live = 2 * math.ceil(capacity * period / limit) + ahead
  elseif not value or last - last % period ~= now - now % period then -- another slot: never one ahead of the clock
    live = 2 * period
  end
  return found, true, struct.pack('<I8I8', used + cost * period, now), live
end
