#!/usr/bin/env bash
# HiveOS sources this file. It sets khs, the total hashrate in kH/s, and stats.

# HTTP address of the miner: from its configuration file, or else WEB_PORT of the manifest.
newcut_asked() (
  here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || exit 1
  port=$WEB_PORT
  file=$CUSTOM_CONFIG_FILENAME
  [ -n "$port" ] && [ -n "$file" ] || . "$here/h-manifest.conf"
  [ -r "$here/rig-sheet.sh" ] || here=$here/..
  . "$here/rig-sheet.sh" || exit 1
  address=$(newcut_address "${file:-$CUSTOM_CONFIG_FILENAME}")
  [ "$address" != off ] && echo "${address:-127.0.0.1:${port:-$WEB_PORT}}"
)

if newcut_url=http://$(newcut_asked)/hiveos && stats=$(curl --silent --fail --max-time 5 "$newcut_url"); then
  khs=$(jq '[.hs[] | . // 0] | add // 0' <<<"$stats")
else
  stats=null
  khs=0
fi
