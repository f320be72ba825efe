/** Natives, forms and classes of look-ups that the programs of the generator have to reach. */
import { NATIVES } from './model/natives.ts'

/** Natives without a model: they need proofs, signatures of verifiers or messages of other chains. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'yield-to-chain',
  'pairing-check',
  'scalar-mult',
  'verify-spv',
  'enforce-verifier',
  'hyperlane-message-id',
  'hyperlane-decode-token-message',
  'hyperlane-encode-token-message',
])

const named = (kind: string, names: string): string[] => names.split(', ').map((name) => `${kind}: ${name}`)

/** Where a program can look up a module. `read` is the first time, `loaded before` each other time. */
const LOOKUPS = [
  'by name, module read',
  'by name, interface read',
  'by name, loaded before',
  'reference ns.module, read',
  'm::f, read',
  'm::f, loaded before',
  'user guard, read',
  'keyset predicate, read',
  'module guard, read',
  'table, read',
  'table, loaded before',
  'pact step, read',
  'pact step, loaded before',
  'module admin, read',
  'governance of a replaced module, read',
  'governance of a replaced module, loaded before',
]

export const REQUIRED: readonly string[] = [
  ...[...NATIVES.keys()].filter((name) => !LEFT_OUT.has(name)).map((name) => `native: ${name}`),
  ...LOOKUPS.map((lookup) => `look-up: ${lookup}`),
  ...named('form', 'and, or, if, enforce, enforce-one, try, with-capability, create-user-guard, error, pure'),
  ...named('top level', 'expr, use, module, interface'),
  ...named('capability', 'none, event, auto, by, composed, installed by a signature'),
  ...named('guard', 'keyset, keyset-ref, keyset by its name, keyset with a predicate of a module'),
  ...named('guard', 'user, capability, module, pact'),
  ...named('pact', 'step, rollback, nested'),
  ...named('call', 'pact, part of the arguments'),
  'value: module reference',
  'failure that try catches',
  'failure that enforce-one catches',
]

/** Seeds whose programs reach all of it together, found by trying many. */
export const REACHING_SEEDS: readonly number[] = [82, 116, 130, 153, 175, 212, 247, 271, 296, 352, 404]
