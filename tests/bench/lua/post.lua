-- one body, again and again
local basic = os.getenv("BASIC")
wrk.method = "POST"
wrk.body = os.getenv("BODY")
wrk.headers["Content-Type"] = os.getenv("TYPE")
if basic ~= "" then wrk.headers["Authorization"] = "Basic " .. basic end
