#!/usr/bin/env node
/**
 * The health check of a container: exit code 0 when an address answers with success within 4 s, else 1. Without an
 * argument it asks a miner at the usual address whether it searches, or is paused.
 */
const MAX_WAIT_MS = 4000
const [, , url = 'http://127.0.0.1:4148/healthz'] = process.argv

fetch(url, { signal: AbortSignal.timeout(MAX_WAIT_MS) }).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
)
