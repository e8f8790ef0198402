-- The law of both buckets, over the variables of call.lua: in `value` (the key's bytes, false where there is none), `now`,
-- `far`, `slot`, the rule's numbers and `tokens`; out `first` and `second` (the state as it stood), `allowed` and, where it
-- charges, `next` (the bytes to write) and, where the key's time to live has to be set anew, `live` (for how many ticks).
local used, last = 0, -1
if value then
  used, last = unpack_bytes('<I8I8', value)
  first, second = used, last
end
local at = now
if last > now and last - now <= far then
  at = last
elseif last > now then -- a clock was wrong: the key starts fresh
  used, last = 0, -1
else
  -- Not capped as in C: where the product passes 2^53 it is rounded, yet stays above `used`, and the result is 0.
  used = used - (now - last) * limit
  if used < 0 then used = 0 end
end

local free = full - used
if at_most and tokens * period > free then
  tokens = free > 0 and math.floor(free / period) or 0
end
allowed = tokens == 0 or (tokens <= capacity and tokens * period <= free)
if allowed and tokens > 0 then
  next = pack_bytes('<I8I8', used + tokens * period, at)
  if capacity > limit then
    live = 2 * math.ceil(full / limit) + at - now
  elseif last < slot then
    live = 2 * period
  end
end
