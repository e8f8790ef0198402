-- POST /v1/check with random keys, `pipeline` requests at a time. Arguments: pipeline, keys.
local requests = {}
local at = 0

function init(arguments)
  local pipeline, keys = tonumber(arguments[1]), tonumber(arguments[2])
  for i = 1, 1024 do
    local parts = {}
    for j = 1, pipeline do
      local body = string.format('{"rule":"api","key":"key:%012d"}', math.random(0, keys - 1))
      parts[j] = wrk.format("POST", "/v1/check", nil, body)
    end
    requests[i] = table.concat(parts)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end
