/** Stores shares until it is killed, and prints the ids of stored ones. Arguments: `URL FLEET NAME`. */

import { systemClock } from '../../dist/src/ground/platform/clock.js'
import { JetStreamStore } from '../../dist/src/mining/accounts/jetstream-store.js'
import { readNatsAddress } from '../../dist/src/mining/fleet/address.js'
import { FleetLink } from '../../dist/src/mining/fleet/link.js'

const [url, fleet, name] = process.argv.slice(2)
const options = { addresses: [readNatsAddress(url)], trust: {}, fleet, agent: 'test' }
const shared = { clock: systemClock, random: Math.random }
const link = await FleetLink.open({ ...options, ...shared }, () => undefined, new AbortController().signal)
const store = new JetStreamStore({ link, clock: systemClock, session: name, onWarning: () => undefined })
const rig = { user: 'k:abc', worker: name, agent: 'test/1', address: '127.0.0.1' }
const work = { chain: 3, height: 7, difficulty: 1e12, blockDifficulty: 1e18, block: null }
for (let first = 0; ; first += 10) {
  const ids = Array.from({ length: 10 }, (_, i) => `${name}-${first + i}`)
  await store.append(ids.map((id) => ({ id, timeMs: Date.now(), ...rig, ...work })))
  process.stdout.write(`${ids.join(' ')}\n`)
}
