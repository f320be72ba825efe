/** Numbers of natives in hashed modules. An overload that the number of arguments selects has a number of its own. */

/** Names in the order of their numbers. Code cannot name the overloads. */
const NAMES: readonly string[] = `
  + - * / negate abs ^ not = != > >= < <= & | xor ~ shift round ceiling floor round-prec ceiling-prec floor-prec exp
  ln sqrt log length take drop concat reverse contains sort sort-object remove mod map filter zip int-to-str
  str-to-int str-to-int-base fold distinct format enumerate enumerate-step show read-msg read-msg-default read-integer
  read-decimal read-string read-keyset enforce-guard enforce-keyset keyset-ref-guard at make-list base64-encode
  base64-decode str-to-list yield yield-to-chain resume bind require-capability compose-capability install-capability
  emit-event create-capability-guard create-capability-pact-guard create-module-guard create-pact-guard create-table
  describe-keyset describe-module describe-table define-keyset define-read-keyset fold-db insert keys read select
  select-with-fields update with-default-read with-read write tx-hash and? or? where not? hash continue parse-time
  format-time time add-time diff-time hours minutes days compose create-principal is-principal typeof-principal
  validate-principal namespace define-namespace describe-namespace chain-data is-charset pact-id pairing-check
  scalar-mult point-add poseidon-hash-hack-a-chain typeof dec cond identity verify-spv enforce-verifier
  acquire-module-admin hyperlane-message-id hyperlane-decode-token-message hyperlane-encode-token-message
  read-with-fields list-modules static-redeploy hash-keccak256 hash-poseidon
`
  .trim()
  .split(/\s+/)

/** Name and number of arguments -> the overload. */
const OVERLOADS: ReadonlyMap<string, string> = new Map([
  ['- 1', 'negate'],
  ['enumerate 3', 'enumerate-step'],
  ['select 3', 'select-with-fields'],
  ['sort 2', 'sort-object'],
  ['round 2', 'round-prec'],
  ['ceiling 2', 'ceiling-prec'],
  ['floor 2', 'floor-prec'],
  ['str-to-int 2', 'str-to-int-base'],
  ['read-msg 0', 'read-msg-default'],
  ['define-keyset 1', 'define-read-keyset'],
  ['yield 2', 'yield-to-chain'],
  ['read 3', 'read-with-fields'],
])

const numbers = new Map(NAMES.map((name, number) => [name, number]))
const overloads: ReadonlySet<string> = new Set(OVERLOADS.values())
/** Natives that only test files have; the network refuses them in modules. */
const OF_TESTS = NAMES.length

/** True for a name that stands for a native in code. */
export function isNumberedNative(name: string): boolean {
  return numbers.has(name) && !overloads.has(name)
}

/** Number of a native where it is a value. */
export function nativeNumber(name: string): number {
  return numbers.get(name) ?? OF_TESTS
}

/** Number of a native in a call with `count` arguments. */
export function calledNumber(name: string, count: number): number {
  return nativeNumber(OVERLOADS.get(`${name} ${count}`) ?? name)
}
