/** Kills of relays and of everything they need. TEST_ROUNDS gives the number, TEST_SEED the order. */
import { itWith, lackOf } from '../needs.ts'
import { roundsOf } from '../rotation.ts'
import { killRelays } from './relay-rounds.ts'

const rounds = roundsOf(12, 4)
const seed = Number(process.env.TEST_SEED ?? Math.floor(2 ** 31 * Math.random()))
const title = `${rounds} rounds of kills lose no share and no block, and pay none twice`
itWith(lackOf('nats-server'), title, (context) => killRelays({ rounds, seed }, context), 600_000 + rounds * 60_000)
