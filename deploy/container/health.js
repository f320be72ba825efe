#!/usr/bin/env node
/**
 * The health check of a container.
 *
 *     newcut-health                a miner at the usual address searches, or is paused; or a development network answers
 *     newcut-health URL...         one of the addresses answers with success
 *     newcut-health --waits URL    the same, or nobody listens there yet: newcut does once it has reached its node, pool or
 *                                  leader, and no restart brings that nearer
 *
 * Exit code 0: that is so, and was told within 4 s; 1: it is not.
 */
const MAX_WAIT_MS = 4000
const USUAL = ['http://127.0.0.1:4148/healthz', 'http://127.0.0.1:1848/info']
const waits = process.argv[2] === '--waits'
const given = process.argv.slice(waits ? 3 : 2)

async function isWell(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(MAX_WAIT_MS) })).ok
  } catch (error) {
    return waits && error.cause?.code === 'ECONNREFUSED'
  }
}

Promise.all((given.length > 0 ? given : USUAL).map(isWell)).then((answers) =>
  process.exit(answers.includes(true) ? 0 : 1),
)
