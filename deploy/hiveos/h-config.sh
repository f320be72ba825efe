#!/usr/bin/env bash
# Writes the configuration of newcut from the flight sheet:
#   CUSTOM_URL          addresses of nodes, in order of priority
#   CUSTOM_TEMPLATE     who is paid: k:KEY, the key alone, or the name of an account
#   CUSTOM_PASS         token for control over HTTP; empty or x: none
#   CUSTOM_USER_CONFIG  further lines of the configuration, as in docs/OPTIONS.md

[ -n "$CUSTOM_CONFIG_FILENAME" ] || . "$(dirname -- "${BASH_SOURCE[0]}")/h-manifest.conf"

# A text of YAML, whatever is in it.
quoted() { printf "'%s'" "${1//\'/\'\'}"; }

configuration() {
  local url
  echo "# Written by h-config.sh from the flight sheet. Changes here are lost."
  echo "http: 127.0.0.1:${WEB_PORT:-4148}"
  if [ -n "$CUSTOM_URL" ]; then
    echo "nodes:"
    for url in ${CUSTOM_URL//,/ }; do echo "  - $(quoted "$url")"; done
  fi
  if [[ $CUSTOM_TEMPLATE =~ ^[0-9a-fA-F]{64}$ ]]; then
    echo "public-key: $(quoted "$CUSTOM_TEMPLATE")"
  elif [ -n "$CUSTOM_TEMPLATE" ]; then
    echo "account: $(quoted "$CUSTOM_TEMPLATE")"
  fi
  if [ -n "$CUSTOM_PASS" ] && [ "$CUSTOM_PASS" != x ]; then echo "http-token: $(quoted "$CUSTOM_PASS")"; fi
  if [ -n "$CUSTOM_USER_CONFIG" ]; then echo "$CUSTOM_USER_CONFIG"; fi
}

# It may hold a token.
(umask 077 && configuration >"$CUSTOM_CONFIG_FILENAME")
