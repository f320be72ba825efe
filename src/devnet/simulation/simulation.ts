/** One simulation: runs commands in blocks above the newest ones, and keeps none of them. */
import { setImmediate } from 'node:timers/promises'
import type { Header } from '#ground/chain/header.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { encodeProof, type OutputProof } from '#ground/chain/spv.ts'
import {
  type BlockToSimulate,
  type CommandToSimulate,
  MAX_SIMULATED_BYTES,
  MAX_SIMULATED_GAS,
  type SimulateRequest,
} from '#ground/schema/control.ts'
import { isoMicros, isoSeconds } from '#language/contracts/values/time-text.ts'
import { Guard, type ObjectValue, Time } from '#language/contracts/values/value.ts'
import { valueToJson } from '#language/contracts/values/wire.ts'
import type { SimulatedExecution } from '../execution/block-runner.ts'
import type { Execution } from '../execution/execution.ts'
import { type BlockContext, contextOn } from '../ledger/block-context.ts'
import { type CopiedBase, textsOf } from '../ledger/copied-base.ts'
import { PayloadDraft, type RunLater } from '../ledger/draft.ts'
import { gasFeeOf } from '../ledger/gas.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { isoTime } from '../ledger/row-json.ts'
import { readRowOverrides } from '../ledger/row-overrides.ts'
import type { RefusedCommand } from '../ledger/transaction.ts'
import { preflightFaults } from '../mempool/checks.ts'
import type { Mempools } from '../mempool/mempools.ts'
import { transactionOf } from '../mempool/transaction.ts'
import type { Chains } from '../rules/chains.ts'
import type { NetworkRules } from '../rules/network-rules.ts'
import { type BuiltCommand, commandFrom } from './commands.ts'
import { InvalidSimulation } from './invalid-simulation.ts'
import { changedEntriesText, changedRowsText, refusedText } from './result-text.ts'
import { SimulatedChain } from './simulated-chain.ts'
import { SimulatedPacts } from './simulated-pacts.ts'
import { SimulatedProofs } from './simulated-proofs.ts'

/** Parts of the node that a simulation reads. */
export interface SimulatorParts {
  readonly chains: Chains
  readonly ledger: Ledger
  readonly pools: Pick<Mempools, 'gas'>
  readonly rules: NetworkRules
  /** State below the first blocks, if the network was forked. */
  readonly fork: CopiedBase | null
  /** Gets the fees and rewards. */
  readonly account: MinerAccount
  readonly simulate: Execution['simulate']
}

/** A block under construction. */
interface OpenBlock {
  /** Position in the simulation. */
  readonly block: number
  readonly chain: SimulatedChain
  readonly draft: PayloadDraft
  readonly context: BlockContext
  readonly isPrivileged: Set<string>
}

/** Outcome of a command, as JSON texts. */
interface Outcome {
  readonly isInBlock: boolean
  readonly output: string
  /** Coins paid for gas. */
  readonly fee: string
  readonly rows: string
  readonly entries: string
  readonly printed: readonly string[]
  readonly trace: string | null
}

const MICROS = 1_000_000n
const NO_ROOM = 'the block has no room for it'

export class Simulation {
  readonly #parts: SimulatorParts
  readonly #isTraced: boolean
  readonly #heads: ReadonlyMap<number, Header>
  readonly #chains = new Map<number, SimulatedChain>()
  readonly #proofs: SimulatedProofs
  readonly #pacts: SimulatedPacts
  readonly #results: string[] = []
  #bytes = 0
  #gas = 0
  /** Block time in microseconds; null for that of each chain. */
  #time: bigint | null = null

  constructor(parts: SimulatorParts, { trace = false }: Pick<SimulateRequest, 'trace'>) {
    const { chains } = parts
    this.#parts = parts
    this.#isTraced = trace
    this.#heads = new Map(chains.cut)
    this.#proofs = new SimulatedProofs(chains.network, this.#heads)
    this.#pacts = new SimulatedPacts(this.#proofs)
  }

  /** JSON text of the results so far. */
  get text(): string {
    const base = [...this.#chains].map(([chain, { head, headHash }]) => {
      return [chain, { height: Number(head.height), hash: headHash }]
    })
    const about = JSON.stringify({ base: Object.fromEntries(base), gas: this.#gas })
    return `${about.slice(0, -1)},"commands":[${this.#results.join(',')}]}`
  }

  /** Runs the next block of each chain. @throws InvalidSimulation, InvalidRow */
  async add(block: number, { time, rows = {}, chains = {} }: BlockToSimulate, signal: AbortSignal): Promise<void> {
    this.#advance(block, time)
    for (const [chain, tables] of Object.entries(rows)) {
      await this.#replaceRows(this.#chainOf(chain, `/blocks/${block}/rows`), tables, `/blocks/${block}/rows/${chain}`)
    }
    for (const [name, commands] of Object.entries(chains)) {
      const at = `/blocks/${block}/chains`
      const chain = this.#chainOf(name, at)
      // Many chains without commands that take long must not hold up the node.
      await setImmediate()
      const open = await this.#open(block, chain)
      const keys: string[] = []
      for (const [i, command] of commands.entries()) {
        signal.throwIfAborted()
        const key = await this.#run(open, command, `${at}/${name}/${i}`)
        if (key !== null) keys.push(key)
      }
      const { payload } = open.draft
      this.#proofs.add(keys, { header: chain.add(chain.parentOf(block), open.draft, payload), payload, block })
    }
  }

  #advance(block: number, text: string | undefined): void {
    const time = text === undefined ? null : isoTime(text)
    if (text !== undefined && time === null) {
      const quoted = JSON.stringify(text)
      throw new InvalidSimulation(`/blocks/${block}/time: ${quoted} is not a time such as 2027-01-01T00:00:00Z`)
    }
    if (time !== null) this.#time = time.micros
    else if (block > 0) this.#time = (this.#time ?? newestOf(this.#heads)) + this.#parts.chains.network.blockDelay
  }

  #chainOf(name: string, at: string): SimulatedChain {
    const id = Number(name)
    const known = this.#chains.get(id)
    if (known !== undefined) return known
    const { chains, ledger } = this.#parts
    const head = this.#heads.get(id)
    if (head === undefined || String(id) !== name) {
      const { size } = this.#heads
      throw new InvalidSimulation(`${at}: there is no chain ${JSON.stringify(name)}: the network has ${size}, from 0`)
    }
    const chain = new SimulatedChain(head, ledger.stateOf(id, chains.store.recordOfHash(head.hash)))
    this.#chains.set(id, chain)
    return chain
  }

  async #replaceRows(
    chain: SimulatedChain,
    tables: NonNullable<BlockToSimulate['rows']>[string],
    at: string,
  ): Promise<void> {
    const read = () =>
      Object.entries(tables).flatMap(([table, byKey]) => readRowOverrides(chain.state, table, byKey, at))
    chain.replaceRows(await this.#complete(read))
  }

  /** Begins a block, with its reward. */
  #open(block: number, chain: SimulatedChain): Promise<OpenBlock> {
    const { ledger, chains, rules, account } = this.#parts
    const parent = chain.parentOf(block)
    const blockRules = { ...rules.on(parent), areHashesOfText: ledger.genesis.areHashesOfText }
    const plain = contextOn(parent.chainId, parent, blockRules)
    const isPrintAllowed = ledger.prints !== null
    const context = { ...plain, parentTime: this.#time ?? plain.parentTime, ...(isPrintAllowed && { isPrintAllowed }) }
    const isPrivileged = new Set<string>()
    const readProof = () => {
      throw new Error('simulated commands run in the thread')
    }
    const executing = { context, miner: account, readProof, isPrivileged: (key: string) => isPrivileged.has(key) }
    return this.#complete(() => {
      const draft = new PayloadDraft(chain.state, executing, chains.store.chains, {
        gasLimit: Number.POSITIVE_INFINITY,
      })
      return { block, chain, draft, context, isPrivileged }
    })
  }

  /** @returns the request key of a command that the block has, or null */
  async #run(open: OpenBlock, given: CommandToSimulate, at: string): Promise<string | null> {
    const { block, chain, context } = open
    const built = await this.#complete(() => this.#build(open, given, at))
    const { key } = built.command
    if (given.name !== undefined) this.#pacts.name(given.name, key, at)
    if (built.isPrivileged) open.isPrivileged.add(key)
    const reason = this.#reasonAgainst(open, built)
    const { isInBlock, output, fee, rows, entries, printed, trace } =
      reason === null ? await this.#execute(open, built) : refuseWith(key, reason)
    if (isInBlock) {
      chain.requestKeys.add(key)
      this.#pacts.note(key, output, context.chain)
    }
    const about = {
      name: given.name ?? null,
      block,
      chain: context.chain,
      height: Number(context.height),
      time: blockTimeText(context.parentTime),
      isInBlock,
    }
    const text = [
      JSON.stringify(about),
      output,
      `{"fee":${fee},"rows":${rows},"entries":${entries},"printed":${JSON.stringify(printed)}}`,
      trace ?? '{}',
    ]
    this.#take(
      `{${text
        .map((each) => each.slice(1, -1))
        .filter((each) => each !== '')
        .join(',')}}`,
    )
    return isInBlock ? key : null
  }

  #build({ block, context, chain }: OpenBlock, given: CommandToSimulate, at: string): BuiltCommand {
    const { state } = chain
    return commandFrom(given, {
      at,
      network: this.#parts.chains.network.name,
      chain: context.chain,
      seconds: Number(context.parentTime / MICROS),
      gasLimit: this.#parts.pools.gas.blockLimit,
      keysOf: (account) => {
        const { guard } = Object.fromEntries(state.get<ObjectValue>('table:coin.coin-table', account) ?? [])
        return guard instanceof Guard && guard.is.kind === 'keyset' ? guard.is.keys : []
      },
      stepOf: (pact) => this.#pacts.stepOf(pact, { at, chain: context.chain, block, state }),
      proofOf: (name, place) => this.#pacts.proofOf(name, { at: place, chain: context.chain, block }),
    })
  }

  /** @returns why a node would not take a command, or null */
  #reasonAgainst({ context, chain }: OpenBlock, { command, isPrivileged }: BuiltCommand): string | null {
    const { chains, ledger, pools } = this.#parts
    const { key, payload } = command
    if (chain.requestKeys.has(key) || ledger.result(context.chain, key) !== null) {
      return `the transaction ${key} is on this chain already`
    }
    const place = { network: chains.network.name, chain: context.chain, blockLimit: pools.gas.blockLimit }
    const faults = preflightFaults(command, { ...place, nowSeconds: Number(context.parentTime / MICROS) })
    if (faults.length > 0) return faults.join('; ')
    const fault = payload.kind === 'exec' && !isPrivileged ? payload.code.fault : null
    return fault === null ? null : `Pact parse error: ${fault}`
  }

  /** Executes a command at the end of its block. */
  async #execute(
    { draft, chain, context }: OpenBlock,
    { command, keys, isPrivileged }: BuiltCommand,
  ): Promise<Outcome> {
    const runs: (RefusedCommand | (SimulatedExecution & Pick<Outcome, 'rows' | 'entries'>))[] = []
    const run: RunLater = async (layer, ...rest) => {
      const source = { ...this.#proofsOn(chain, context), state: layer }
      const executed = await this.#parts.simulate([layer, ...rest], { source, keys, isTraced: this.#isTraced })
      // A part of a forked network may be missing here: then it runs again.
      if ('refused' in executed) runs.push(executed)
      else {
        const writes = executed.layer.entries()
        runs.push({
          ...executed,
          rows: changedRowsText(layer, writes),
          entries: changedEntriesText(layer, writes),
        })
      }
      return executed
    }
    const { bytes } = transactionOf(command)
    const added = await this.#complete(() => draft.addLater(run, { command, bytes }), textsOf(command))
    const done = runs.at(-1)
    if (done === undefined) return refuseWith(command.key, typeof added === 'object' ? added.refused : NO_ROOM)
    if ('refused' in done) {
      // It may have been stopped after all of its time, which counts as its gas limit.
      this.#charge(command.meta.gasLimit)
      return refuseWith(command.key, done.refused)
    }
    this.#charge(done.gas)
    const { output, rows, entries, trace, printed } = done
    const fee = isPrivileged ? '0' : valueToJson(gasFeeOf(done.gas, command))
    const texts = (printed?.lines ?? []).map(({ text }) => text)
    return { isInBlock: true, output, fee, rows, entries, trace, printed: texts }
  }

  /** Verifies proofs of the simulation, and those of real blocks. */
  #proofsOn({ head }: SimulatedChain, { chain, rules }: BlockContext) {
    const { ledger } = this.#parts
    const base = contextOn(chain, head, rules)
    return {
      verify: (proof: string) => {
        const output = this.#proofs.outputOf(proof, chain)
        return output === undefined ? ledger.verify(base, proof) : { output }
      },
      verifySpv: (type: string, object: ObjectValue) => {
        const isKnown = (proof: OutputProof) => this.#proofs.outputOf(encodeProof(proof), chain) !== undefined
        return ledger.verifySpv(base, type, object, isKnown)
      },
    }
  }

  #charge(gas: number): void {
    this.#gas += gas
    if (this.#gas <= MAX_SIMULATED_GAS) return
    const text = `the commands take more than ${MAX_SIMULATED_GAS} gas: simulate fewer of them at a time`
    throw new InvalidSimulation(text, false)
  }

  #take(text: string): void {
    this.#bytes += text.length
    if (this.#bytes > MAX_SIMULATED_BYTES) {
      const mib = MAX_SIMULATED_BYTES / 1024 / 1024
      throw new InvalidSimulation(
        `the results take more than ${mib} MiB: simulate fewer commands, or without traces`,
        false,
      )
    }
    this.#results.push(text)
  }

  /** Runs until nothing of a forked network is missing. */
  async #complete<T>(run: () => T | Promise<T>, texts: readonly string[] = []): Promise<T> {
    const { fork } = this.#parts
    return fork === null ? run() : fork.complete(run, texts)
  }
}

const refuseWith = (key: string, reason: string): Outcome => ({
  isInBlock: false,
  output: refusedText(key, reason),
  fee: '0',
  rows: '[]',
  entries: '[]',
  printed: [],
  trace: null,
})

function blockTimeText(micros: bigint): string {
  const time = new Time(micros)
  return micros % MICROS === 0n ? isoSeconds(time) : isoMicros(time)
}

/** Creation time of the newest block of a cut, in microseconds. */
function newestOf(heads: ReadonlyMap<number, Header>): bigint {
  let newest = 0n
  for (const { creationTime } of heads.values()) if (creationTime > newest) newest = creationTime
  return newest
}
