-- The law of both windows. State: window, curr, prev. Arguments and results as bucket's; `sliding` is the counter's.
local function window(value, now, far, period, limit, cost, at_most, sliding)
  local held, curr, prev = 0, 0, 0
  if value then held, curr, prev = struct.unpack('<I8I4I4', value) end
  local found = {held, curr, prev}
  local ahead = held * period - now
  local at
  if ahead > 0 and ahead <= far then
    at, now = held, held * period
  else
    at = (now - now % period) / period
    if at == held + 1 then
      curr, prev = 0, curr
    elseif at ~= held then -- long ago, or so far ahead that a clock was wrong
      curr, prev = 0, 0
    end
  end

  -- What is free, in units of a token's `period`-th; each product is below 2^53, and so is their difference.
  local free = (limit - curr) * period
  if sliding then free = free - prev * (period - (now - at * period)) else prev = 0 end
  if at_most and cost * period > free then
    cost = free > 0 and math.floor(free / period) or 0
  end
  if cost == 0 then return found, true end
  if cost > limit or cost * period > free then return found, false end

  local live -- set in another slot than the state's: never one ahead of the clock
  if sliding then
    if not value or held - held % 2 ~= at - at % 2 then live = 4 * period end
  elseif not value or held ~= at then
    live = 2 * period
  end
  return found, true, struct.pack('<I8I4I4', at, curr + cost, prev), live
end
