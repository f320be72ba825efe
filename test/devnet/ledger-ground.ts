/** Chains that execute blocks inside the process, without signatures. Tests add blocks of commands on any cut. */

import type { Command } from '../../src/devnet/command/command.ts'
import { genesisOf } from '../../src/devnet/ledger/genesis.ts'
import type { Ledger } from '../../src/devnet/ledger/ledger.ts'
import { spvProof } from '../../src/devnet/ledger/spv.ts'
import type { Versions } from '../../src/devnet/ledger/versions.ts'
import { Chains, genesisState } from '../../src/devnet/rules/chains.ts'
import { rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { networkOf, settingsOf } from '../../src/devnet/rules/settings.ts'
import type { Block } from '../../src/devnet/store/block-store.ts'
import { indexBlock, MemoryTransactionIndex } from '../../src/devnet/store/transaction-index.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import type { Cut } from '../../src/ground/chain/cut.ts'
import { extensionOf } from '../../src/ground/chain/cut.ts'
import { developmentAccounts } from '../../src/ground/chain/development-accounts.ts'
import type { GraphName } from '../../src/ground/chain/graph.ts'
import type { Header } from '../../src/ground/chain/header.ts'
import { graphAt } from '../../src/ground/chain/network.ts'
import type { NodeRelease } from '../../src/ground/schema/devnet-modes.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import type { ObjectValue } from '../../src/language/contracts/values/value.ts'
import { blake2b256 } from './command.ts'
import { ledgerOf } from './ledger.ts'
import { inPayload } from './read-command.ts'

export interface TestCommand {
  /** The request key. */
  readonly key: string
  readonly command: Command
  readonly bytes: Uint8Array
}

export interface TestCommandOptions {
  readonly sender?: string
  readonly clist?: readonly { readonly name: string; readonly args: readonly unknown[] }[]
  readonly data?: unknown
  readonly gasLimit?: number
  readonly cont?: { readonly pactId: string; readonly step: number; readonly proof: string | null }
  readonly publicKey?: string
  readonly verifiers?: readonly unknown[]
}

const MINER = { account: 'miner', predicate: 'keys-all', publicKeys: ['a'.repeat(64)] }
let nonces = 0

export class LedgerGround {
  readonly chains: Chains
  readonly ledger: Ledger
  readonly index = new MemoryTransactionIndex()
  #micros: bigint

  /** `versions` stores the state. Default: in memory. */
  constructor(graph: GraphName, versions?: Versions, release: NodeRelease = '3.2') {
    const network = networkOf(settingsOf({ graph, pow: false, release }))
    this.#micros = network.genesisTime
    const state = genesisState(network, () => genesisOf(graphAt(network, 0).adjacents.length).payload)
    this.ledger = ledgerOf(state, this.index, versions, rulesFor(network, release))
    const now = () => {
      this.#micros += 1_000_000n
      return this.#micros
    }
    this.chains = new Chains({ network, checkPow: false, now, state, executions: this.ledger })
    this.chains.onBlock((block) => indexBlock(this.index, block))
  }

  /** Moves the clock forward. */
  wait(seconds: number): void {
    this.#micros += BigInt(seconds) * 1_000_000n
  }

  command(chain: number, code: string, options: TestCommandOptions = {}): TestCommand {
    const { sender = 'sender00', clist, data = {}, gasLimit = 2000, cont } = options
    const own = developmentAccounts.find(({ account }) => account === sender)?.publicKey
    const cmd = JSON.stringify({
      networkId: 'development',
      payload: cont === undefined ? { exec: { code, data } } : { cont: { ...cont, rollback: false, data } },
      signers: [{ pubKey: options.publicKey ?? own ?? '', ...(clist && { clist }) }],
      ...(options.verifiers && { verifiers: options.verifiers }),
      meta: {
        ...{ chainId: String(chain), sender, gasLimit, gasPrice: 1e-8, ttl: 86_400 },
        creationTime: Number(this.#micros / 1_000_000n),
      },
      nonce: `${nonces++}`,
    })
    const key = blake2b256(cmd).toString('base64url')
    return { key, ...inPayload({ hash: key, sigs: [{ sig: '' }], cmd }) }
  }

  /** Adds a block on top of a cut with those of the commands that fit into it. */
  block(cut: Cut, chain: number, commands: readonly TestCommand[] = [], miner = MINER): Block {
    const parent = headOf(cut, chain)
    const draft = this.ledger.begin(parent, miner)
    for (const each of commands) draft.add(each)
    const payload = this.ledger.payloadOf(draft, parent)
    const work = this.chains.newWork(chain, payload.payloadHash, cut)
    if ('blockedBy' in work) throw new Error(`chain ${chain} waits for chain ${work.blockedBy}`)
    const addition = this.chains.insert(work, payload)
    if (addition.status !== 'added') throw new Error(JSON.stringify(addition))
    return addition.block
  }

  /** Extends the cut of the network. */
  grow(chain: number, commands: readonly TestCommand[] = [], miner = MINER): Block {
    const block = this.block(this.chains.cut, chain, commands, miner)
    if (!this.chains.adopt(new Map([...this.chains.cut, [chain, block.header]]))) throw new Error('not adopted')
    return block
  }

  /** Chains that may get a block on top of a cut. */
  open(cut: Cut = this.chains.cut): number[] {
    return this.chains.chainIds.filter((chain) => typeof extensionOf(this.chains.network, cut, chain) !== 'number')
  }

  /** The result of a command on the cut, or undefined if there is none. */
  result(chain: number, key: string): Result | undefined {
    const found = this.ledger.result(chain, key)
    return found === null ? undefined : resultOf(found.output)
  }

  /** A proof of the result of a command for another chain, or null if there is none yet. */
  proof(chain: number, key: string, targetChain: number): string | null {
    const found = this.ledger.result(chain, key)
    if (found === null) return null
    const { block, index } = found
    const answer = spvProof(this.chains, { chain, requestKey: key, block, index, targetChain })
    return 'proof' in answer ? answer.proof : null
  }

  /** The value of code on the head of a chain, as JSON. */
  local(chain: number, code: string): unknown {
    const { result } = JSON.parse(this.ledger.local(chain, this.command(chain, code).command)) as Result
    if (result.status !== 'success') throw new Error(JSON.stringify(result))
    return result.data
  }

  /** The sum of all balances after a block. */
  total(block: { readonly chain: number; readonly hash: Uint8Array }): Decimal {
    const state = this.ledger.stateOf(block.chain, this.chains.store.recordOfHash(block.hash))
    let sum = Decimal.of(0n)
    for (const account of state.keys('table:coin.coin-table')) {
      const balance = state.get<ObjectValue>('table:coin.coin-table', account)?.get('balance') as Decimal
      if (balance.mantissa < 0n) throw new Error(`${account} owes ${balance}`)
      sum = sum.add(balance)
    }
    return sum
  }

  /** All entries of the state after a block, as text. */
  snapshot(block: { readonly chain: number; readonly hash: Uint8Array }): string {
    const state = this.ledger.stateOf(block.chain, this.chains.store.recordOfHash(block.hash))
    const domain = 'table:coin.coin-table'
    const rows = state.keys(domain).map((key) => [key, [...(state.get<ObjectValue>(domain, key) ?? [])].map(String)])
    const pacts = state.keys('pacts').map((key) => [key, state.get('pacts', key) === null])
    return JSON.stringify([rows, pacts, state.get('counters', 'tx')])
  }
}

export interface Result {
  readonly gas: number
  readonly result: { readonly status: string; readonly data?: unknown; readonly error?: { readonly message: string } }
  readonly events?: readonly { readonly name: string; readonly params: readonly unknown[] }[]
  readonly continuation: { readonly pactId: string } | null
  readonly txId: number | null
}

export const resultOf = (output: Uint8Array) => JSON.parse(Buffer.from(output).toString()) as Result

export function headOf(cut: Cut, chain: number): Header {
  const head = cut.get(chain)
  if (head === undefined) throw new Error(`the cut has no chain ${chain}`)
  return head
}

export const transferCaps = (from: string, to: string, amount: number) => [
  { name: 'coin.GAS', args: [] },
  { name: 'coin.TRANSFER', args: [from, to, amount] },
]

export const idOf = ({ hash }: { readonly hash: Uint8Array }) => encodeBase64Url(hash)
