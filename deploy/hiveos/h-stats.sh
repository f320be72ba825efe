#!/usr/bin/env bash
# HiveOS reads this file into its own shell: it sets khs, thousand hashes a second of all devices, and stats.

[ -n "$WEB_PORT" ] || . "$(dirname -- "${BASH_SOURCE[0]}")/h-manifest.conf"

if stats=$(curl --silent --fail --max-time 5 "http://127.0.0.1:$WEB_PORT/hiveos"); then
  khs=$(jq '[.hs[] | . // 0] | add // 0' <<<"$stats")
else
  stats=null
  khs=0
fi
