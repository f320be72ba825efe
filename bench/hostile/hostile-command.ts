/** Runs one hostile command as a node does, and counts what it would write to disk. */

import { CommandFault, readCommand } from '../../src/devnet/command/read.ts'
import { DiskVersions, type Records } from '../../src/devnet/data/disk-versions.ts'
import { type BlockContext, contextOn } from '../../src/devnet/ledger/block-context.ts'
import { genesisOf } from '../../src/devnet/ledger/genesis.ts'
import { Ledger } from '../../src/devnet/ledger/ledger.ts'
import { runLocally } from '../../src/devnet/ledger/local.ts'
import { executeCommand } from '../../src/devnet/ledger/transaction.ts'
import { genesisState } from '../../src/devnet/rules/chains.ts'
import { rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { networkOf, settingsOf } from '../../src/devnet/rules/settings.ts'
import { MemoryTransactionIndex } from '../../src/devnet/store/transaction-index.ts'
import { developmentAccounts } from '../../src/ground/chain/development-accounts.ts'
import { emptyEnvironment, freeGas } from '../../src/language/contracts/machine/environment.ts'
import { Evaluator } from '../../src/language/contracts/machine/evaluate/evaluator.ts'
import { runText } from '../../src/language/contracts/machine/load/execute.ts'
import { Layer } from '../../src/language/contracts/machine/state.ts'
import { startTransaction } from '../../src/language/contracts/run.ts'
import { valueFromJson } from '../../src/language/contracts/values/wire.ts'
import type { HostileCase } from './case.ts'
import { GAS_LIMIT } from './limits.ts'

const [{ account, publicKey }] = developmentAccounts
/** Any 32 bytes: signatures are not checked here. */
const HASH = 'A'.repeat(43)
const MINER = { account: `k:${publicKey}`, predicate: 'keys-all', publicKeys: [publicKey] }

/** Records in memory as JSON text. */
class CountedRecords implements Records {
  bytes = 0
  readonly #texts = new Map<string, string>()

  read(key: string): unknown {
    const text = this.#texts.get(key)
    return text === undefined ? undefined : JSON.parse(text)
  }

  write(key: string, json: unknown): void {
    const text = JSON.stringify(json)
    this.bytes += key.length + text.length
    this.#texts.set(key, text)
  }
}

/** A prepared command. Only its run is measured. */
export interface Prepared {
  /** Runs the command. @returns what came of it, in a few words, and the bytes that it would write */
  run(): { readonly outcome: string; readonly written: number }
}

/** Notes the gas that was used, or the work where it is more, at every charge. */
export function watchGas(note: (milligas: number) => void): void {
  const { charge, work } = Evaluator.prototype
  const look = ({ transaction: { gas } }: Evaluator) => {
    note(Math.max(gas.used, gas.work ?? 0))
  }
  Evaluator.prototype.charge = function watched(this: Evaluator, milligas: number): void {
    charge.call(this, milligas)
    look(this)
  }
  Evaluator.prototype.work = function watched(this: Evaluator, units: number): void {
    work.call(this, units)
    look(this)
  }
}

/** Builds the state and the text of the command. */
export function prepare(hostile: HostileCase): Prepared {
  const network = networkOf(settingsOf({ graph: 'singleton', pow: false }))
  const { store, heads } = genesisState(network, () => genesisOf(1).payload)
  const [parent] = heads.values()
  const records = new CountedRecords()
  const versions = new DiskVersions(records, () => genesisOf(1).state)
  const rules = rulesFor(network, '3.2')
  const index = new MemoryTransactionIndex()
  const ledger = new Ledger({ store, heads: heads.values(), index, versions, rules, check: () => null })
  const record = store.recordOfHash(parent.hash)
  const state = ledger.stateOf(0, record)
  const place = contextOn(0, parent, rules.on(parent))
  const context: BlockContext = { ...place, spv: (type, object) => ledger.verifySpv(place, type, object) }
  for (const text of hostile.before ?? []) {
    const layer = new Layer(state)
    const { block, message } = emptyEnvironment
    const data = valueFromJson({ k: [publicKey] })
    runText(startTransaction({ block, message: { ...message, data, hash: HASH } }, layer, freeGas()), text)
    versions.add(0, record, layer.entries())
  }
  const cmd = commandText(hostile)
  const readProof = () => {
    throw new Error('no proofs here')
  }
  const run = () => {
    const command = readCommand({ cmd, hash: HASH, sigs: [{ sig: '' }] })
    if (command instanceof CommandFault) return { outcome: `refused: ${command.message}`, written: 0 }
    const before = records.bytes
    const output = (text: string) => summarize(text)
    if (hostile.as === 'local') return { outcome: output(runLocally(state, context, command, readProof)), written: 0 }
    const block = { context, miner: MINER, readProof }
    const executed = executeCommand(state, block, command, { txId: 1, gasLimit: GAS_LIMIT })
    if ('refused' in executed) return { outcome: `refused: ${executed.refused}`.slice(0, 90), written: 0 }
    versions.add(0, record + 1, executed.layer.entries())
    return { outcome: output(executed.output), written: records.bytes - before + Buffer.byteLength(executed.output) }
  }
  return { run }
}

function summarize(result: string): string {
  const gas = /^\{"gas":(\d+)/.exec(result)?.[1]
  const message = /"message":("(?:[^"\\]|\\.){0,70})/.exec(result.slice(0, 1000))?.[1]
  return `${gas} gas, ${message ?? `success, ${result.length} characters`}`
}

function commandText({ code, data, capabilities, verifiers, signers = 1 }: HostileCase): string {
  const clist = capabilities === undefined ? '[]' : capabilities()
  const signer = `{"pubKey":"${publicKey}","clist":${clist}}`
  const creationTime = 0
  const meta = { chainId: '0', sender: account, gasLimit: GAS_LIMIT, gasPrice: 1e-8, ttl: 28_800, creationTime }
  return (
    `{"payload":{"exec":{"code":${JSON.stringify(code)},"data":${data === undefined ? '{}' : data()}}},` +
    `"signers":[${new Array(signers).fill(signer).join(',')}],"verifiers":${verifiers?.() ?? '[]'},"networkId":"development","nonce":"",` +
    `"meta":${JSON.stringify(meta)}}`
  )
}
