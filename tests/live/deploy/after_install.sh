
: advice over https from the installed service
token=$(curl -sS https://localhost/api/agent/register -H 'Content-Type: application/json' \
  -d '{"agent_name": "first", "identity_type": "anonymous"}' |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
curl -sS --fail https://localhost/api/leverage -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
  -d '{"role": "buyer", "issues": [{"name": "price", "type": "money", "range": {"min": 11000, "max": 15000}}],
       "target": {"package": {"price": 12500}}, "walk_away": {"package": {"price": 14000}}}' > advice
head -c 300 advice
curl -sS --fail https://localhost/sign-in | grep '<h1>'

: doctor finds no fault
install -m 644 "$CURL_CA_BUNDLE" /srv/authority.crt
SSL_CERT_FILE=/srv/authority.crt runuser -u negotiator -- negotiator doctor

: what the service cannot do
pid=$(systemctl show -P MainPID negotiator)
grep -E 'NoNewPrivs:.*1' "/proc/$pid/status"
grep -E 'CapEff:.*0000000000000000' "/proc/$pid/status"
test "$(stat -c %U:%a /var/lib/negotiator)" = negotiator:700

: recall and speech under the rules of the unit
sed 's|^ExecStart=.*|ExecStart=/opt/negotiator/bin/python /opt/sandbox_probe.py|; s|^Type=.*|Type=oneshot|; /^Restart/d' \
  /etc/systemd/system/negotiator.service > /etc/systemd/system/probe.service
cp sandbox_probe.py /opt
systemctl daemon-reload
systemctl start probe || { journalctl -u probe --no-pager; exit 1; }
journalctl -u probe -o cat --no-pager

: the end is graceful
systemctl stop negotiator
test "$(systemctl show -P Result negotiator)" = success
