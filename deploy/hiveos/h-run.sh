#!/usr/bin/env bash
# Mines with the configuration that h-config.sh writes.

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd) || exit 1
[ -n "$CUSTOM_CONFIG_FILENAME" ] || . "$here/h-manifest.conf"
mkdir -p "$(dirname -- "$CUSTOM_LOG_BASENAME")"
"$here/newcut" mine --config "$CUSTOM_CONFIG_FILENAME" 2>&1 | tee "$CUSTOM_LOG_BASENAME.log"
exit "${PIPESTATUS[0]}"
