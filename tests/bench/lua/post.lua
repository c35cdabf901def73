-- one body, again and again
wrk.method = "POST"
wrk.body = os.getenv("BODY")
wrk.headers["Content-Type"] = os.getenv("TYPE") or "application/json"
if os.getenv("BASIC") then wrk.headers["Authorization"] = "Basic " .. os.getenv("BASIC") end
