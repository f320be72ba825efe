/** Entries of the state as JSON text, for hashes of writes and for comparisons when blocks are checked. */
import type { Module, PactState } from '../../contracts/machine/ast.ts'
import type { Namespace } from '../../contracts/machine/modules.ts'
import type { LayerEntry } from '../../contracts/machine/state.ts'
import type { Value } from '../../contracts/values/value.ts'
import { valueToJson } from '../../contracts/values/wire.ts'

export function entryText({ domain, value }: LayerEntry): string {
  switch (domain) {
    case 'tables':
      return 'true'
    case 'counters':
      return String(value)
    case 'modules':
      return JSON.stringify((value as Module).hash)
    case 'namespaces': {
      const { user, admin } = value as Namespace
      return `{"user":${valueToJson(user)},"admin":${valueToJson(admin)}}`
    }
    case 'pacts':
      return pactText(value as PactState | null)
    default:
      return valueToJson(value as Value)
  }
}

function pactText(pact: PactState | null): string {
  if (pact === null) return 'null'
  const { id, fun, args, step, yielded, nested } = pact
  const told = yielded === null ? 'null' : valueToJson(yielded.data)
  const below = [...nested.values()].map(pactText).join(',')
  return `{"id":"${id}","fun":"${fun.qualified}","args":${valueToJson(args)},"step":${step},"yield":${told},"nested":[${below}]}`
}
