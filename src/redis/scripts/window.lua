-- The law of both windows, as bucket.lua's of buckets. State: window, curr, prev. Also in: `window`, the current one's
-- number, and `left`, the ticks until it ends; out, `third`.
local held, curr, prev = -2, 0, 0
if value then
  held, curr, prev = unpack_bytes('<I8I4I4', value)
  first, second, third = held, curr, prev
end
local at, remains = window, left
if held == window - 1 then
  curr, prev = 0, curr
elseif held > window and held * period - now <= far then
  at, remains = held, period
elseif held ~= window then -- none, long ago, or so far ahead that a clock was wrong
  curr, prev = 0, 0
end

-- What is free, in units of a token's `period`-th; each product is below 2^53, and so is their difference.
local free = (limit - curr) * period
local sliding = algorithm == SLIDING
if sliding then free = free - prev * remains else prev = 0 end
if at_most and tokens * period > free then
  tokens = free > 0 and math.floor(free / period) or 0
end
allowed = tokens == 0 or (tokens <= limit and tokens * period <= free)
if allowed and tokens > 0 then
  next = pack_bytes('<I8I4I4', at, curr + tokens, prev)
  if sliding then
    if held - held % 2 ~= at - at % 2 then live = 4 * period end -- its slots are two windows
  elseif held ~= at then
    live = 2 * period
  end
end
