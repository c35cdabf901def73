-- one message, again and again, with the headers in $HEADERS, one "name: value" a line
wrk.method = os.getenv("METHOD") or "POST"
wrk.body = os.getenv("BODY")
for line in (os.getenv("HEADERS") or ""):gmatch("[^\n]+") do
  local name, value = line:match("([^:]+): (.*)")
  wrk.headers[name] = value
end
