-- GET / , `pipeline` requests at a time. Arguments: pipeline.
local requests

function init(arguments)
  requests = string.rep(wrk.format("GET", "/"), tonumber(arguments[1]))
end

function request()
  return requests
end
