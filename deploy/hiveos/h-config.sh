#!/usr/bin/env bash
# Writes the configuration of newcut from the flight sheet:
#   CUSTOM_URL          addresses of nodes or of pools (stratum+tcp://, stratum+ssl://), in order of priority
#   CUSTOM_TEMPLATE     the paid account: k:KEY, the key alone, or the name of an account, each with or without .WORKER
#   CUSTOM_PASS         for nodes the token for control over HTTP, for pools their password; empty or x: none
#   CUSTOM_USER_CONFIG  further lines of the configuration, as in docs/OPTIONS.md; they override all of the above

newcut_configure() {
  local here
  here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || return 1
  [ -n "$CUSTOM_CONFIG_FILENAME" ] || . "$here/h-manifest.conf"
  [ -r "$here/rig-sheet.sh" ] || here=$here/..
  . "$here/rig-sheet.sh" || return 1
  # The file may contain a token.
  (
    umask 077
    {
      echo "# Written by h-config.sh from the flight sheet. Changes here are lost."
      newcut_sheet "$CUSTOM_URL" "$CUSTOM_TEMPLATE" "$CUSTOM_PASS" "$WORKER_NAME" "127.0.0.1:${WEB_PORT:-4148}" "$CUSTOM_USER_CONFIG"
    } >"$CUSTOM_CONFIG_FILENAME"
  )
}

newcut_configure
