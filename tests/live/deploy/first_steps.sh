# Run by fresh_check as a new user, in two parts: `install` may use the network, `use` has none.
cd ~
began=$SECONDS
since() { echo "$((SECONDS - began)) s: $1"; }

if [[ $1 == install ]]; then
    git clone --quiet /srv/negotiator.git negotiator
    since 'cloned'
    make -C negotiator setup
    since 'everything that make run installs is there'
    exit
fi

cd negotiator
(exec make run) > ~/log 2>&1 &
until curl -sf http://127.0.0.1:8000/api/health > /dev/null; do
    kill -0 %1 2> /dev/null || { cat ~/log; exit 1; }
    sleep 0.5
done
since 'make run answers'
cat ~/log
token=$(curl -sS http://127.0.0.1:8000/api/agent/register -H 'Content-Type: application/json' \
    -d '{"agent_name": "first", "identity_type": "anonymous"}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
curl -sS --fail http://127.0.0.1:8000/api/leverage -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -d '{"role": "buyer", "issues": [{"name": "price", "type": "money", "range": {"min": 11000, "max": 15000}}],
         "target": {"package": {"price": 12500}}, "walk_away": {"package": {"price": 14000}}}' > ~/advice
python3 -c 'import json, sys; print(json.load(sys.stdin)["summary"]["text"])' < ~/advice
since 'first advice'
test -z "$(git status --porcelain)" || { git status --short; exit 1; }
kill %1
wait %1 || true
