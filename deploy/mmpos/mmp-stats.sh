#!/usr/bin/env bash
# Prints the state of the miner in the format of mmpOS. Prints nothing and exits with 1 if no miner answers.

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || exit 1
sheet=$here/rig-sheet.sh
[ -r "$sheet" ] || sheet=$here/../rig-sheet.sh
. "$sheet" || exit 1
# The address that mmp-launch.sh wrote, or else the default port.
address=$(newcut_address "$here/newcut.yaml")
curl --silent --fail --max-time 5 "http://${address:-127.0.0.1:${WEB_PORT:-4148}}/mmpos"
