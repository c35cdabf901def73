-- one assertion for each request, each used once, from the file $ASSERTIONS, between $BEFORE and $AFTER
local file = io.open(os.getenv("ASSERTIONS"))
local before, after = os.getenv("BEFORE"), os.getenv("AFTER")
wrk.method = "POST"
wrk.headers["Content-Type"] = os.getenv("TYPE")
request = function()
  local line = file:read("l")
  if not line then wrk.thread:stop() return wrk.format("GET", "/") end
  return wrk.format("POST", nil, nil, before .. line .. after)
end
