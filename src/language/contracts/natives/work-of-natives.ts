/**
 * Work of each native, counted before it runs. The prices of the network do not bound the time of all of them, so a
 * native without a line here is refused when the language is made.
 */
import { measureWork } from '../machine/gas/bounds.ts'
import type { Term } from '../machine/term.ts'
import { bitLength } from '../values/bits.ts'
import { Decimal } from '../values/decimal.ts'
import { CapabilityToken } from '../values/value.ts'

/** Units by the sizes of the arguments, all known without a walk. The arguments may be of any type. */
export type DeclaredWork = (args: readonly Term[]) => number

/** The time does not depend on the arguments, or each step of it is a call that counts by itself. */
const flatWork: DeclaredWork = () => 0
/** The native counts by itself, since it needs sizes that it knows only within. */
const countsItself: DeclaredWork = () => 0

/** Units for each entry of an object that is copied, and for each name that is looked up. */
const ENTRY_WORK = 10
const NAME_WORK = 10
/** Bits of a number that a unit copies. */
const COPIED_BITS = 300
/** Bits of a decimal of many places that a unit divides by its power of ten. */
const DIVIDED_BITS = 8
/** Units for each directive of a time format. */
const DIRECTIVE_WORK = 200

function copyWork([n]: readonly Term[]): number {
  return Math.ceil(bitsOf(n) / COPIED_BITS)
}

/** Units of the integral parts of all decimals. */
function divisionWork(args: readonly Term[]): number {
  let units = 0
  for (const each of args) if (each instanceof Decimal && each.places > 0) units += bitsOf(each) / DIVIDED_BITS
  return Math.ceil(units)
}

function bitsOf(n: Term): number {
  if (typeof n === 'bigint') return bitLength(n)
  return n instanceof Decimal ? bitLength(n.mantissa) : 0
}

function mergeWork([a, b]: readonly Term[]): number {
  return a instanceof Map && b instanceof Map ? ENTRY_WORK * (a.size + b.size) : 0
}

function nameWork(list: Term | undefined): number {
  return Array.isArray(list) ? NAME_WORK * list.length : 0
}

function tokenWork([token]: readonly Term[]): number {
  return token instanceof CapabilityToken ? measureWork(token.args) : 0
}

function formatWork([format]: readonly Term[]): number {
  if (typeof format !== 'string') return 0
  let units = 0
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', at + 2)) units += DIRECTIVE_WORK
  return units
}

const WORKS: Readonly<Record<string, DeclaredWork>> = {
  ...declareAll(
    countsItself,
    `
    * / mod & | xor ~ shift = != < <= > >= length take drop reverse sort make-list enumerate contains distinct
    remove format concat show str-to-list str-to-int int-to-str is-charset base64-encode base64-decode time
    parse-time add-time minutes hours days hash hash-keccak256 typeof create-principal validate-principal
    is-principal typeof-principal hash-poseidon poseidon-hash-hack-a-chain pairing-check point-add scalar-mult
    hyperlane-message-id hyperlane-encode-token-message hyperlane-decode-token-message verify-spv read-string
    read-integer read-decimal read-keyset enforce-guard enforce-keyset require-capability compose-capability
    install-capability emit-event acquire-module-admin insert update write keys fold-db yield define-keyset
    define-namespace static-redeploy keyset-ref-guard where list-modules enforce-verifier
    `,
  ),
  ...declareAll(
    flatWork,
    `
    not not? and? or? and or at map filter fold zip compose identity dec diff-time read-msg tx-hash pact-id
    chain-data continue create-module-guard create-pact-guard create-table describe-table describe-keyset namespace
    describe-namespace describe-module
    `,
  ),
  ...declareAll(tokenWork, 'create-capability-guard create-capability-pact-guard'),
  ...declareAll(divisionWork, 'round floor ceiling ^ ln log sqrt exp'),
  '+': mergeWork,
  '-': (args) => (args.length === 1 ? copyWork(args) : 0),
  negate: copyWork,
  abs: copyWork,
  'format-time': formatWork,
  read: ([, , names]) => nameWork(names),
  select: ([, names]) => nameWork(names),
}

/** @param names names of natives, with white space between them */
function declareAll(work: DeclaredWork, names: string): Readonly<Record<string, DeclaredWork>> {
  const each = names.trim().split(/\s+/)
  return Object.fromEntries(each.map((name) => [name, work]))
}

/**
 * The declared work of a native of the network.
 * @throws Error if it declares none
 */
export function nativeWork(native: string): DeclaredWork | null {
  if (!Object.hasOwn(WORKS, native)) throw new Error(`native ${native} declares no work`)
  const work = WORKS[native]
  return work === flatWork || work === countsItself ? null : work
}

/** Natives that declare their work, for the test that no line is left over. */
export const declaredWorks: readonly string[] = Object.keys(WORKS)

/** Natives whose declared work does not depend on the arguments, for the measurement of their time. */
export const flatNatives: readonly string[] = declaredWorks.filter((name) => WORKS[name] === flatWork)
