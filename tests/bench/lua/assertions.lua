-- one assertion for each request, each used once, from the file $ASSERTIONS; the round ends when they do
local file = io.open(os.getenv("ASSERTIONS"))
local head = '{"agent_name":"a","identity_type":"identity_assertion",'
  .. '"assertion_type":"urn:ietf:params:oauth:token-type:id-jag","assertion":"'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  local line = file:read("l")
  if not line then wrk.thread:stop() return wrk.format("GET", "/") end
  return wrk.format("POST", nil, nil, head .. line .. '"}')
end
