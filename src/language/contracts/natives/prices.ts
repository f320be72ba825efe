import { PRICE } from '../machine/gas/prices.ts'
import { CRYPTO_PRICES } from './crypto/crypto-work.ts'

/**
 * Flat price of a native call in milligas, as on the public network (PROTOCOL.md E.5). The natives charge what depends on
 * arguments.
 */
const USUAL = PRICE.native

const PRICES = new Map<string, number>([
  ...CRYPTO_PRICES,
  ...prices(200, ['read-msg', 'read-string', 'read-integer', 'read-decimal', 'read-keyset']),
  ...prices(200, ['create-module-guard', 'create-pact-guard']),
  ...prices(250, ['&', '|', 'xor', '~', 'base64-encode', 'base64-decode', 'str-to-list', 'validate-principal']),
  ...prices(250, ['add-time', 'diff-time', 'minutes', 'hours', 'days']),
  ...prices(500, ['time', 'parse-time', 'format-time', 'chain-data', 'is-charset']),
  ...prices(500, ['require-capability', 'compose-capability', 'install-capability']),
  ...prices(0, ['and', 'or']),
  ...prices(1000, ['emit-event', 'sqrt', 'ln', 'log']),
  ...prices(2000, ['exp']),
  ...prices(PRICE.guard, ['enforce-guard', 'enforce-keyset', 'keyset-ref-guard']),
  ...prices(PRICE.read, ['read']),
  ...prices(5000, ['define-keyset']),
  ...prices(10_000, ['enforce-verifier']),
  ...prices(20_000, ['acquire-module-admin']),
  ...prices(25_000, ['define-namespace', 'insert', 'update', 'write']),
  ...prices(100_000, ['describe-keyset', 'describe-module', 'describe-table', 'describe-namespace', 'list-modules']),
  ...prices(250_000, ['create-table']),
  // Reading a whole table costs more than the gas limit of most commands.
  ...prices(40_000_000, ['keys', 'select', 'fold-db']),
])

function prices(price: number, names: readonly string[]): (readonly [name: string, price: number])[] {
  return names.map((name) => [name, price])
}

export function nativePrice(native: string): number {
  return PRICES.get(native) ?? USUAL
}
