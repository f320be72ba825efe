/** Results of simulated commands as JSON text, with all digits of their numbers. */
import type { Module, PactState } from '#language/contracts/machine/ast.ts'
import type { Domain, LayerEntry, Namespace, ReadableState } from '#language/contracts/machine/state.ts'
import type { Guard, ObjectValue } from '#language/contracts/values/value.ts'
import { valueToJson } from '#language/contracts/values/wire.ts'

const TABLE = 'table:'

/** The rows among the writes of a command, as they were and as they are. @param state state before the command */
export function changedRowsText(state: ReadableState, writes: readonly LayerEntry[]): string {
  const rows = writes
    .filter(({ domain }) => domain.startsWith(TABLE))
    .map(({ domain, key, value }) => {
      const place = JSON.stringify({ table: domain.slice(TABLE.length), key })
      const before = rowText(state.get<ObjectValue>(domain, key))
      return `${place.slice(0, -1)},"before":${before},"after":${rowText(value as ObjectValue)}}`
    })
  return `[${rows.join(',')}]`
}

/** All else among the writes of a command, as it was and as it is. @param state state before the command */
export function changedEntriesText(state: ReadableState, writes: readonly LayerEntry[]): string {
  const entries = writes.flatMap(({ domain, key, value }) => {
    const form = FORMS[domain]
    if (form === undefined) return []
    const textOf = (entry: unknown) => (entry == null ? 'null' : form.show(entry, key))
    const place = JSON.stringify({ kind: form.kind, key })
    return [`${place.slice(0, -1)},"before":${textOf(state.get(domain, key))},"after":${textOf(value)}}`]
  })
  return `[${entries.join(',')}]`
}

const rowText = (row: ObjectValue | undefined) => (row === undefined ? 'null' : valueToJson(row))

/** How to show the entries of a domain, as JSON text. */
interface EntryForm {
  readonly kind: 'module' | 'keyset' | 'namespace' | 'pact' | 'table'
  readonly show: (entry: unknown, key: string) => string
}

const FORMS: { readonly [Each in Domain]?: EntryForm } = {
  modules: { kind: 'module', show: (entry) => moduleText(entry as Module) },
  keysets: { kind: 'keyset', show: (entry) => valueToJson(entry as Guard) },
  namespaces: { kind: 'namespace', show: (entry) => valueToJson(new Map(Object.entries(entry as Namespace))) },
  pacts: { kind: 'pact', show: (entry) => pactText(entry as PactState) },
  tables: { kind: 'table', show: (_, key) => JSON.stringify({ module: key.slice(0, key.lastIndexOf('.')) }) },
}

function moduleText({ hash, isInterface, governance, interfaces, blessed, code }: Module): string {
  const upgradedBy = 'keyset' in governance ? `keyset ${governance.keyset}` : `capability ${governance.capability}`
  const ofModule = { governance: upgradedBy, interfaces, blessed: [...blessed] }
  return JSON.stringify({ kind: isInterface ? 'interface' : 'module', hash, ...(!isInterface && ofModule), code })
}

function pactText({ fun, args, step, yielded, nested }: PactState): string {
  const inner = [...nested].map(([id, pact]) => `${JSON.stringify(id)}:${pactText(pact)}`)
  const about = JSON.stringify({ name: fun.qualified, step, target: yielded?.provenance?.chain ?? null })
  const yields = yielded === null ? 'null' : valueToJson(yielded.data)
  return `${about.slice(0, -1)},"args":${valueToJson([...args])},"yield":${yields},"nested":{${inner.join(',')}}}`
}

/** JSON text of the result of a command that no block takes. */
export function refusedText(reqKey: string, message: string): string {
  const error = { callStack: [], type: 'Refused', message, info: '' }
  const nothing = { logs: null, metaData: null, continuation: null, txId: null }
  return JSON.stringify({ gas: 0, result: { status: 'failure', error }, reqKey, ...nothing })
}
