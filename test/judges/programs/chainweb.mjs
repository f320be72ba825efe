/** Reads the chains with `chainweb`. With `stream` as its second argument it follows the blocks instead. */
import chainweb from 'chainweb'
import { host, SHORT_PATIENCE_MS, attempt as tried } from './attempt.mjs'

const ROUNDS = 8
const NETWORK = 'development'
/** Blocks of a stream until the program has seen enough. */
const ENOUGH = 3
/** More blocks than there are. */
const MANY = 1000

const attempt = (name, call) => tried(name, call, SHORT_PATIENCE_MS)

async function read() {
  await attempt('header.recent', () => chainweb.header.recent(0, 0, MANY, NETWORK, host))
  for (let round = 0; round < ROUNDS; round++) {
    await attempt('cut.current', () => chainweb.cut.current(NETWORK, host))
    await attempt('cut.peers', () => chainweb.cut.peers(NETWORK, host))
    await attempt('header.range', () => chainweb.header.range(0, 0, 3, NETWORK, host))
    await attempt('header.recent', () => chainweb.header.recent(0, 1, 2, NETWORK, host))
    await attempt('block.recent', () => chainweb.block.recent(0, 1, 2, NETWORK, host))
    await attempt('block.height', () => chainweb.block.height(0, 2, NETWORK, host))
    await attempt('transaction.recent', () => chainweb.transaction.recent(0, 1, 2, NETWORK, host))
    await attempt('event.recent', () => chainweb.event.recent(0, 1, 2, NETWORK, host))
  }
}

function follow() {
  let seen = 0
  const stream = chainweb.header.stream(
    0,
    [0, 1],
    () => {
      seen++
      if (seen === ENOUGH) stream.close()
    },
    NETWORK,
    host,
  )
}

if (process.argv[3] === 'stream') follow()
else await read()
