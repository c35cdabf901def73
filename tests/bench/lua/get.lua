-- one token for each request, in turn, from the file $TOKENS
local tokens, at = {}, 0
for line in io.lines(os.getenv("TOKENS")) do tokens[#tokens + 1] = "Bearer " .. line end
request = function()
  at = at % #tokens + 1
  wrk.headers["Authorization"] = tokens[at]
  return wrk.format("GET")
end
