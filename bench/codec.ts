/** Measures operations that run once per header rather than once per nonce. */
import { encodeHex } from '../src/ground/base/bytes.ts'
import { parseJson, stringifyJson } from '../src/ground/base/json.ts'
import { blockHash } from '../src/ground/chain/block-hash.ts'
import { expectedFieldsOf } from '../src/ground/chain/difficulty.ts'
import { genesisHeader } from '../src/ground/chain/genesis.ts'
import { decodeHeader, encodeHeader, encodeWork, type Header } from '../src/ground/chain/header.ts'
import { headerFromJson, headerToJson } from '../src/ground/chain/header-json.ts'
import { development } from '../src/ground/chain/network-data.ts'
import { powHash } from '../src/ground/chain/pow.ts'
import type { Row } from './report.ts'
import type { Effort } from './suite.ts'

const SUITE = 'codec'
/** The last header of an epoch, so that difficulty adjustment does its full work. */
const EPOCH_END = 11n

export async function codec({ sampleMs, rounds }: Effort): Promise<Row[]> {
  const genesis = genesisHeader(development, 0, new Uint8Array(32))
  const header: Header = { ...genesis, height: EPOCH_END, creationTime: genesis.creationTime + 300_000_000n }
  const bytes = encodeHeader(header)
  const work = encodeWork(header)
  const json = stringifyJson(headerToJson(header))
  const tasks: Record<string, () => string> = {
    'header decode': () => encodeHex(encodeHeader(decodeHeader(bytes))),
    'header from JSON object': () => encodeHex(encodeHeader(headerFromJson(parseJson(json)))),
    'proof-of-work hash': () => encodeHex(powHash(work)),
    'block hash (Merkle)': () => encodeHex(blockHash(work)),
    'difficulty step': () => expectedFieldsOf(development, header, [header, header, header], 0n).target.toString(16),
  }
  // A checksum verifies the results and keeps the compiler from eliminating the work.
  const roundTrip = encodeHex(bytes)
  for (const name of ['header decode', 'header from JSON object']) {
    if (tasks[name]() !== roundTrip) throw new Error(`${name}: the header changed on the way`)
  }
  const expected = new Map(Object.entries(tasks).map(([name, task]) => [name, task()]))
  const samples = new Map<string, number[]>(Object.keys(tasks).map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, task] of Object.entries(tasks)) {
      const rate = ratePerSecond(task, expected.get(name) ?? '', sampleMs / 2)
      if (round >= 0) samples.get(name)?.push(rate)
    }
  }
  return [...samples].map(([name, rates]) => ({ suite: SUITE, name, unit: '1/s', samples: rates }))
}

function ratePerSecond(task: () => string, expected: string, sampleMs: number): number {
  const startMs = performance.now()
  let runs = 0
  do {
    for (let i = 0; i < 8; i++) if (task() !== expected) throw new Error('a result changed from run to run')
    runs += 8
  } while (performance.now() - startMs < sampleMs)
  return (runs * 1000) / (performance.now() - startMs)
}
