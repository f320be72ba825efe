/**
 * A node that reorganises its chains again and again. After each step, once it is on disk, it prints the state. It is a
 * process of its own, so that it can be killed. Argument: data directory.
 */

import { machineFor } from '../../dist/src/compose/devnet-machine.js'
import { blockHash } from '../../dist/src/core/block-hash.js'
import { encodeBase64Url } from '../../dist/src/core/bytes.js'
import { encodeWork } from '../../dist/src/core/header.js'
import { startNode } from '../../dist/src/devnet/devnet.js'
import { BlockBuilder } from '../../dist/src/devnet/work/block-builder.js'
import { noContracts } from '../../dist/src/devnet/work/executor.js'

const miner = { account: 'k:a11ce', predicate: 'keys-all', publicKeys: ['a11ce'] }
const builder = new BlockBuilder(noContracts, () => 0n)
const { chains } = await startNode({ port: 0, pow: false, graph: 'pair', dataDir: process.argv[2] }, machineFor({}))

/** Inserts blocks on top of a cut; returns the heads of that branch. */
function branch(from, count) {
  const heads = new Map(from)
  for (let added = 0, chain = 0; added < count; chain = (chain + 1) % heads.size) {
    const payload = builder.build({ chain, parent: heads.get(chain), miner, transactions: [] })
    const work = chains.newWork(chain, payload.payloadHash, heads)
    if ('blockedBy' in work) continue
    const header = { ...work, hash: blockHash(encodeWork(work)) }
    const { status } = chains.insert(header, payload)
    if (status !== 'added') throw new Error(status)
    heads.set(chain, header)
    added++
  }
  return heads
}

for (let step = 0; ; step++) {
  const before = new Map(chains.cut)
  // Three steps, each written as a whole: two more blocks, a longer branch in their place, a change of the rules.
  if (!chains.adopt(branch(before, 2))) throw new Error('the cut did not move')
  await chains.durable()
  if (!chains.adopt(branch(before, 4))) throw new Error('the longer branch was not adopted')
  chains.changeRules({ blockDelay: BigInt(1_000_000 + step) })
  await chains.durable()
  const heads = [...chains.cut.values()].map(({ hash }) => encodeBase64Url(hash))
  const line = { blocks: chains.store.size, ruleChanges: chains.rules.changes.length, heads }
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve))
}
