-- Asks laju whether a request may pass, and leaves the answer in variables of the transaction:
-- txn.laju_denied, txn.laju_limit, txn.laju_remaining, txn.laju_reset, txn.laju_retry_after.
-- Where laju does not answer in time, the request passes.

local URL = os.getenv("LAJU_URL") or "http://127.0.0.1:8080"
local TIMEOUT_MS = 50

local SHOWN = {
  ["x-ratelimit-limit"] = "txn.laju_limit",
  ["x-ratelimit-remaining"] = "txn.laju_remaining",
  ["x-ratelimit-reset"] = "txn.laju_reset",
  ["retry-after"] = "txn.laju_retry_after",
}

-- Fields that say what is asked for: HAProxy's word counts, not the client's.
local OWN = {
  ["connection"] = true, ["content-length"] = true, ["transfer-encoding"] = true, ["expect"] = true, ["upgrade"] = true,
  ["forwarded"] = true, ["x-real-ip"] = true, ["x-original-url"] = true,
  ["x-original-uri"] = true, ["x-original-method"] = true, ["x-forwarded-for"] = true, ["x-forwarded-host"] = true,
  ["x-forwarded-uri"] = true, ["x-forwarded-method"] = true,
}

local function question(txn)
  local headers = {}
  for name, values in pairs(txn.http:req_get_headers()) do
    if not OWN[name] then
      headers[name] = {}
      for i, value in pairs(values) do headers[name][i + 1] = value end
    end
  end
  local host = txn.f:req_fhdr("host")
  headers["x-original-uri"] = {txn.f:pathq()}
  headers["x-original-method"] = {txn.f:method()}
  headers["x-forwarded-for"] = {txn.f:src()}
  headers["host"] = {"laju"}
  if host then headers["x-forwarded-host"] = {host} end
  return headers
end

core.register_action("laju", {"http-req"}, function(txn)
  local client = core.httpclient()
  local answer = client:get{url = URL .. "/auth", headers = question(txn), timeout = TIMEOUT_MS}
  if not answer or not answer.status or answer.status == 0 then return end
  txn:set_var("txn.laju_denied", answer.status == 429 or answer.status == 403)
  for name, variable in pairs(SHOWN) do
    local values = answer.headers and answer.headers[name]
    if values then txn:set_var(variable, values[0] or values[1]) end
  end
end, 0)
