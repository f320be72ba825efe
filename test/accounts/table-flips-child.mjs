// Flips bits of a table of a share log, one at a time, and prints what a reader finds: `BIT same|refused|changed`.
// LevelDB may abort the process, so a test runs it apart.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VirtualClock } from '../../dist/bench/rigs/virtual-clock.js'
import { LevelStore } from '../../dist/src/mining/accounts/level-store.js'

const [, , whole, tried, table, ...bits] = process.argv

async function read() {
  const store = await LevelStore.open({ folder: tried, network: 'net', clock: new VirtualClock() })
  try {
    const shares = []
    for await (const share of store.shares()) shares.push(share)
    return JSON.stringify(shares)
  } finally {
    await store.close()
  }
}

function copyWith(bit) {
  rmSync(tried, { recursive: true, force: true })
  cpSync(whole, tried, { recursive: true })
  const bytes = readFileSync(join(whole, table))
  if (bit !== null) bytes[bit >> 3] ^= 1 << (bit & 7)
  writeFileSync(join(tried, table), bytes)
}

copyWith(null)
const right = await read()
for (const bit of bits.map(Number)) {
  copyWith(bit)
  const outcome = await read().then(
    (found) => (found === right ? 'same' : 'changed'),
    (error) => {
      if (error.code !== 'DATA_UNUSABLE') throw error
      return 'refused'
    },
  )
  process.stdout.write(`${bit} ${outcome}\n`)
}
