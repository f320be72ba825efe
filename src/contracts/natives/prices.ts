import { CRYPTO_PRICES } from './crypto-work.ts'

/**
 * Price of a native call in milligas, as on the public network. Natives that access rows have price 0 here and charge
 * for themselves, by the bytes.
 */
const USUAL = 100

const PRICES = new Map<string, number>([
  ...CRYPTO_PRICES,
  ...prices(0, ['read', 'insert', 'update', 'write', 'keys', 'select', 'fold-db']),
  ...prices(200, ['read-msg', 'read-string', 'read-integer', 'read-decimal', 'read-keyset']),
  ...prices(200, ['create-module-guard', 'create-pact-guard']),
  ...prices(250, ['&', '|', 'xor', '~', 'base64-encode', 'base64-decode', 'str-to-list', 'validate-principal']),
  ...prices(250, ['add-time', 'diff-time', 'minutes', 'hours', 'days']),
  ...prices(500, ['time', 'parse-time', 'format-time', 'chain-data', 'is-charset']),
  ...prices(500, ['require-capability', 'compose-capability', 'install-capability']),
  ...prices(1000, ['emit-event', 'sqrt', 'ln', 'log']),
  ...prices(2000, ['exp', 'enforce-guard', 'enforce-keyset', 'keyset-ref-guard']),
  ...prices(5000, ['define-keyset']),
  ...prices(10_000, ['enforce-verifier']),
  ...prices(20_000, ['acquire-module-admin']),
  ...prices(25_000, ['define-namespace']),
  ...prices(100_000, ['describe-keyset', 'describe-module', 'describe-table', 'describe-namespace', 'list-modules']),
  ...prices(250_000, ['create-table']),
])

function prices(price: number, names: readonly string[]): (readonly [name: string, price: number])[] {
  return names.map((name) => [name, price])
}

export function priceOf(native: string): number {
  return PRICES.get(native) ?? USUAL
}
