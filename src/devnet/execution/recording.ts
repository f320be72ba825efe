/** Records what a transaction reads, as JSON that another process can execute it from. */
import type { Module } from '#language/contracts/machine/ast.ts'
import type { Domain, ReadableState } from '#language/contracts/machine/state.ts'
import { decodeStoredValue, encodeStoredValue, type StoredValue } from '#language/contracts/values/keep.ts'
import type { ObjectValue } from '#language/contracts/values/value.ts'
import type { BlockContext } from '../ledger/block-context.ts'
import { type EncodedModule, encodeEntry, encodeModule, type ModuleId } from '../ledger/entry-codec.ts'
import type { TaskSource } from './executor.ts'
import type { CommandTask } from './messages.ts'

/** An entry of the state; one without a value does not exist. */
export interface RecordedEntry {
  readonly domain: Domain
  readonly key: string
  readonly value?: unknown
}

/** An answer to a proof of another chain. */
type RecordedProof = { readonly proof: string } & ({ readonly output: string } | { readonly fault: string })

interface RecordedSpv {
  readonly type: string
  readonly object: StoredValue
  readonly answer: { readonly value: StoredValue } | { readonly fault: string }
}

/** A transaction with all that it reads. */
export interface Recording {
  readonly command: CommandTask['command']
  readonly context: Omit<BlockContext, 'spv' | 'print' | 'height' | 'parentTime'> & {
    readonly height: string
    readonly parentTime: string
  }
  readonly block: NonNullable<CommandTask['block']>
  readonly entries: readonly RecordedEntry[]
  /** Keys of domains that were listed. */
  readonly keys: readonly { readonly domain: Domain; readonly keys: readonly string[] }[]
  /** Modules of the entries, each under its id. */
  readonly modules: readonly (readonly [id: ModuleId, module: EncodedModule])[]
  readonly proofs: readonly RecordedProof[]
  readonly spv: readonly RecordedSpv[]
}

/** An entry of the state that a debugger asks for, or all keys of a domain. */
export interface EntryRequest {
  readonly domain: string
  readonly key: string | null
}

/** Reads for a task, and keeps what it reads. */
export class RecordingSource implements TaskSource {
  readonly state: ReadableState
  readonly #source: TaskSource
  readonly #entries = new Map<string, { readonly domain: Domain; readonly key: string; readonly value: unknown }>()
  readonly #keys = new Map<Domain, readonly string[]>()
  readonly #proofs: RecordedProof[] = []
  readonly #spv: RecordedSpv[] = []

  constructor(source: TaskSource) {
    this.#source = source
    this.state = {
      get: <T>(domain: Domain, key: string) => this.#get(domain, key) as T | undefined,
      keys: (domain) => {
        const keys = source.state.keys(domain)
        this.#keys.set(domain, keys)
        return keys
      },
    }
  }

  #get(domain: Domain, key: string): unknown {
    const value = this.#source.state.get(domain, key)
    this.#entries.set(`${domain}\0${key}`, { domain, key, value })
    return value
  }

  readonly verify: TaskSource['verify'] = (proof) => {
    const answer = this.#source.verify(proof)
    this.#proofs.push({ proof, ...answer })
    return answer
  }

  readonly verifySpv: TaskSource['verifySpv'] = (type, object) => {
    const answer = this.#source.verifySpv(type, object)
    const stored = 'fault' in answer ? answer : { value: encodeStoredValue(answer.value) }
    this.#spv.push({ type, object: encodeStoredValue(object), answer: stored })
    return answer
  }

  /** Reads entries that the task has not read. */
  readAlso(wanted: readonly EntryRequest[]): void {
    for (const { domain, key } of wanted) {
      if (key === null) this.state.keys(domain as Domain)
      else this.state.get(domain as Domain, key)
    }
  }

  /** The entries that were read, with the command and its block. */
  recordingOf({ command, context, block }: CommandTask): Recording {
    if (block === undefined) throw new Error('a recording needs a block')
    const modules = new ModuleList()
    const entries = [...this.#entries.values()].map(({ domain, key, value }): RecordedEntry => {
      return value === undefined ? { domain, key } : { domain, key, value: encodeEntry(domain, value, modules) }
    })
    const { height, parentTime, print: _, ...place } = context
    return {
      command,
      context: { ...place, height: String(height), parentTime: String(parentTime) },
      block,
      entries,
      keys: [...this.#keys].map(([domain, keys]) => ({ domain, keys })),
      modules: modules.encoded,
      proofs: this.#proofs,
      spv: this.#spv,
    }
  }
}

/** The context as it was recorded. */
export function contextOf({ context, spv }: Recording): BlockContext {
  const { height, parentTime, ...rest } = context
  return {
    ...rest,
    height: BigInt(height),
    parentTime: BigInt(parentTime),
    spv: (type, object) => {
      const asked = JSON.stringify(encodeStoredValue(object))
      const known = spv.find((each) => each.type === type && JSON.stringify(each.object) === asked)
      if (known === undefined) return { fault: 'the recording has no answer to this proof' }
      return 'fault' in known.answer ? known.answer : { value: decodeStoredValue(known.answer.value) as ObjectValue }
    },
  }
}

/** Gives modules ids, each after those that it uses. */
class ModuleList {
  readonly encoded: [ModuleId, EncodedModule][] = []
  readonly #ids = new Map<Module, ModuleId>()

  idOf(module: Module): ModuleId {
    const known = this.#ids.get(module)
    if (known !== undefined) return known
    const encoded = encodeModule(module, this)
    const id = this.encoded.length
    this.encoded.push([id, encoded])
    this.#ids.set(module, id)
    return id
  }

  moduleOf(id: ModuleId): Module {
    throw new Error(`there is no module ${id}`)
  }
}
