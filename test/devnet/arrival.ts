/** A node of two chains whose blocks the test sees in the order in which they were added. */
import { onTestFinished } from 'vitest'
import type { HostMachine } from '../../src/devnet/devnet.ts'
import { requestKeysOf } from '../../src/devnet/store/transaction-index.ts'
import { until } from '../wait.ts'
import { sharedLedger, startLedger } from './commands-common.ts'
import type { Started } from './common.ts'
import { rewound } from './control-common.ts'
import { Peer } from './request.ts'
import type { DevnetOptions } from './whole-node.ts'

export interface AddedBlock {
  readonly chain: number
  /** Origin of the block. */
  readonly by: string
  readonly requestKeys: readonly string[]
}

/** Starts a ledger. `made` has its blocks without those of the start; `until` waits for them. */
export async function startWatched(options: DevnetOptions = {}, machine: Partial<HostMachine> = {}) {
  const { all, onSolved } = recordBlocks()
  return watch(await startLedger({ ...options, onSolved }, machine), all)
}

/** Like startWatched, for all tests of a file: each call rewinds the ledger. `prepare` runs once, before the first. */
export function sharedWatched(prepare: (started: Started) => Promise<void> = async () => undefined) {
  const { all, onSolved } = recordBlocks()
  const shared = rewound(sharedLedger({ onSolved }, {}, prepare))
  return async () => watch(await shared(), all)
}

function recordBlocks() {
  const all: AddedBlock[] = []
  const onSolved: DevnetOptions['onSolved'] = (_header, addition, by) => {
    if (addition.status !== 'added') return
    const { block } = addition
    all.push({ chain: block.header.chainId, by, requestKeys: requestKeysOf(block) })
  }
  return { all, onSolved }
}

function watch(started: Started, all: readonly AddedBlock[]) {
  const first = all.length
  const made = () => all.slice(first)
  // Answers of orders have no headers for web pages, which a checked peer requires.
  const control = new Peer(started.devnet.url)
  onTestFinished(() => control.close())
  return {
    ...started,
    control,
    made,
    until: (areEnough: (blocks: readonly AddedBlock[]) => boolean) => until(() => areEnough(made())),
  }
}

/** Whether a block holds a transaction. */
export const includesTransaction = (key: string) => (blocks: readonly AddedBlock[]) =>
  blocks.some((each) => each.requestKeys.includes(key))
