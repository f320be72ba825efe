/**
 * A node that repeatedly moves coins and reorganises its chains. It prints its state as one line of JSON once each step
 * is on disk. It is a process of its own, so that tests can kill it. Argument: the data directory.
 */

import { signedCommand, signingKey } from '../../dist/src/client/wallet/keys.js'
import { machineFor } from '../../dist/src/compose/devnet-machine.js'
import { readStored } from '../../dist/src/devnet/command/read.js'
import { startNode } from '../../dist/src/devnet/devnet.js'
import { encodeBase64Url } from '../../dist/src/ground/base/bytes.js'
import { blockHash } from '../../dist/src/ground/chain/block-hash.js'
import { developmentAccounts } from '../../dist/src/ground/chain/development-accounts.js'
import { encodeWork } from '../../dist/src/ground/chain/header.js'

const publicKey = 'a11ce'.padEnd(64, '0')
const miner = { account: `k:${publicKey}`, predicate: 'keys-all', publicKeys: [publicKey] }
const keys = developmentAccounts.map(({ secretKey }) => signingKey(secretKey))
const { chains, ledger } = await startNode(
  { port: 0, pow: false, graph: 'pair', dataDir: process.argv[2] },
  machineFor({}),
)
let made = 0

/** A command that transfers 1.25 coins from one funded account to the next. */
function transfer(chain) {
  const number = made++ % developmentAccounts.length
  const [from, to] = [developmentAccounts[number], developmentAccounts[(number + 1) % developmentAccounts.length]]
  const amount = { decimal: '1.25' }
  const capabilities = [
    { name: 'coin.GAS', args: [] },
    { name: 'coin.TRANSFER', args: [from.account, to.account, amount] },
  ]
  return signedCommand({
    networkId: 'development',
    chain,
    payload: { code: `(coin.transfer "${from.account}" "${to.account}" 1.25)`, data: '{}' },
    signers: [{ key: keys[number], capabilities }],
    sender: from.account,
    gasLimit: 1500,
    gasPrice: '0.0000001',
    ttl: 600,
    creationTime: Math.floor(Date.now() / 1000) - 5,
    nonce: `${process.pid} ${made}`,
  })
}

/** Inserts blocks on top of a cut; the first block of each chain has the commands. Returns the heads of the branch. */
function branch(from, count, commands) {
  const heads = new Map(from)
  for (let added = 0, chain = 0; added < count; chain = (chain + 1) % heads.size) {
    const parent = heads.get(chain)
    if ('blockedBy' in chains.newWork(chain, parent.payloadHash, heads)) continue
    const draft = ledger.begin(parent, miner)
    if (parent === from.get(chain)) for (const command of commands[chain]) place(draft, command)
    const payload = ledger.payloadOf(draft, parent)
    const work = chains.newWork(chain, payload.payloadHash, heads)
    const header = { ...work, hash: blockHash(encodeWork(work)) }
    const addition = chains.insert(header, payload)
    if (addition.status !== 'added') throw new Error(JSON.stringify(addition))
    heads.set(chain, header)
    added++
  }
  return heads
}

function place(draft, command) {
  const bytes = new TextEncoder().encode(JSON.stringify(command))
  const added = draft.add({ command: readStored(bytes), bytes })
  if (added !== 'added') throw new Error(JSON.stringify(added))
}

/** Balances by account after the head of a chain. */
function balancesOf({ chainId, hash }) {
  const state = ledger.stateOf(chainId, chains.store.recordOfHash(hash))
  const domain = 'table:coin.coin-table'
  const balances = state.keys(domain).map((key) => [key, String(state.get(domain, key).get('balance'))])
  return Object.fromEntries(balances.sort())
}

for (let step = 0; ; step++) {
  const before = new Map(chains.cut)
  const onBoth = chains.chainIds.map(transfer)
  const withShared = (others) => chains.chainIds.map((chain) => [onBoth[chain], ...others[chain]])
  // Three atomic writes: two more blocks, a longer branch in their place, a change of the rules.
  const lost = chains.chainIds.map((chain) => [transfer(chain), transfer(chain)])
  if (!chains.adopt(branch(before, 2, withShared(lost)))) throw new Error('the cut did not move')
  await chains.durable()
  const kept = chains.chainIds.map((chain) => [transfer(chain)])
  if (!chains.adopt(branch(before, 4, withShared(kept)))) throw new Error('the longer branch was not adopted')
  chains.changeRules({ blockDelay: BigInt(1_000_000 + step) })
  await chains.durable()
  const heads = [...chains.cut.values()].map((head) => ({ id: encodeBase64Url(head.hash), balances: balancesOf(head) }))
  const line = { blocks: chains.store.size, ruleChanges: chains.rules.changes.length, heads }
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve))
}
