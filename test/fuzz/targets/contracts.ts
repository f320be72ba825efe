/** The contract language: hostile source text, values on the wire, times, and evaluation. */

import { readCapability } from '../../../src/client/wallet/capability.ts'
import { readAmount } from '../../../src/client/wallet/transfer.ts'
import { CommandFault, readCommand } from '../../../src/devnet/command/read.ts'
import { runVerifiers } from '../../../src/devnet/ledger/verifiers/run.ts'
import { parseExactJson } from '../../../src/ground/base/json.ts'
import { ContractError } from '../../../src/language/contracts/errors.ts'
import { isValue } from '../../../src/language/contracts/machine/term.ts'
import { read } from '../../../src/language/contracts/syntax/reader.ts'
import { Decimal } from '../../../src/language/contracts/values/decimal.ts'
import { showValue } from '../../../src/language/contracts/values/print.ts'
import { formatTime, ISO_MICROS, ISO_SECONDS, parseTime } from '../../../src/language/contracts/values/time-text.ts'
import { valueFromJson, valueToJson } from '../../../src/language/contracts/values/wire.ts'
import { evaluatorOn, Layer, outcome } from '../../contracts/evaluator.ts'
import { base64url, merkleMetadata, newKey, newMessage, rootMetadata, signList } from '../../devnet/verifier-keys.ts'
import { expect, isNewcutError, isSyntaxError, type Target, textTarget } from '../target.ts'

const isContractError = (error: unknown) => error instanceof ContractError || isNewcutError(error)

const code = [
  `(module m G (defcap G () true) (defschema s a:integer b:[string]) (deftable t:{s})
    (defun f:string (x:integer y:decimal) "doc" @model [] (let* ((a 1) (b {"c": x, 'd: [1.5, true]})) (+ a x)))
    (defcap C (a:string) @managed a less (enforce-keyset "k")) (defpact p (a) (step (yield {"a": 1})) (step-with-rollback 1 2))
    (defconst K:decimal -1.50) (implements i) (bless "hash"))
  (create-table t)`,
  '(with-read t "k" { "a" := x, "b" := y:string } (bind { "c": 1 } { "c" := z } (format "{} {}" [x y z])))',
  '(let ((l (enumerate 1 20))) (fold (lambda (a x) (+ a (* x x))) 0 (map (compose (+ 1) (* 2)) l)))',
  '(try 1 (enforce (= (str-to-int 16 "ff") 255) "no")) (time "2020-01-01T00:00:00Z") (sort [3 1 2]) (hash "a")',
  `(coin.transfer "a" "k:${'ab'.repeat(32)}" 1.5) ; a comment\n'symbol "a\\n\\  \\b" ns.m.f::g (m.f) []`,
  '(^ 2 100) (/ 1.0 3.0) (round 2.5 1) (shift 1 30) (int-to-str 10 255) (concat ["a" "b"]) (distinct [1 1 2])',
]
const values = [
  ...['1', '1.5', '"a"', 'true', 'null', '[1,"a",{"b":2}]', '{"int":"12345678901234567890"}', '{"decimal":"1.5"}'],
  ...[
    '{"time":"2020-01-01T00:00:00Z"}',
    '{"timep":"2020-01-01T00:00:00.123456Z"}',
    '{"keysetref":{"ns":"a","ksn":"b"}}',
  ],
  ...[
    '{"pred":"keys-all","keys":["a","b"]}',
    '{"fun":"m.f","args":[1]}',
    '{"cgName":"m.c","cgArgs":[],"cgPactId":null}',
  ],
  ...[
    '{"refName":{"namespace":null,"name":"m"},"refSpec":[{"namespace":null,"name":"i"}]}',
    '{"#ctName":"a","#ctArgs":[1]}',
  ],
]
const command = JSON.stringify({
  networkId: 'development',
  payload: { exec: { data: { a: { int: 1 } }, code: '(+ 1 2)' } },
  signers: [
    { pubKey: 'ab', scheme: 'ED25519', clist: [{ name: 'coin.TRANSFER', args: ['a', 'b', { decimal: '1.5' }] }] },
  ],
  verifiers: [{ name: 'm.f', proof: 'p', clist: [] }],
  meta: { chainId: '0', sender: 'a', gasLimit: 600, gasPrice: 1e-8, ttl: 28800, creationTime: 1700000000 },
  nonce: 'n',
})
const continuation = JSON.stringify({
  ...JSON.parse(command),
  payload: { cont: { pactId: 'x', step: 1, rollback: false, proof: 'abc', data: {} } },
})

const KEY = 'A'.repeat(43)

/** In thousandths of gas. */
const GAS_LIMIT = 2_000_000

/**
 * Whether the JSON has an object with a number under `int`: the network writes it like an integer, and reads it as one.
 */
function hasObjectLikeInteger(json: string): boolean {
  let has = false
  JSON.parse(json, (_key, part) => {
    const isNumber = typeof part?.int === 'number'
    has ||= isNumber && (Object.keys(part).length > 1 || !Number.isInteger(part.int))
    return part
  })
  return has
}

export const contractTargets: readonly Target[] = [
  textTarget('contract text', code, (text) => read(text), { allows: isContractError, share: 3 }),
  textTarget(
    'contract code that runs',
    code,
    (text) => {
      const result = outcome(evaluatorOn(new Layer(), { used: 0, limit: GAS_LIMIT }), text)
      if (!('value' in result) || !isValue(result.value)) return
      showValue(result.value)
      JSON.parse(valueToJson(result.value))
    },
    { share: 2 },
  ),
  textTarget(
    'contract values as JSON',
    values,
    (text) => {
      const value = valueFromJson(parseExactJson(text))
      showValue(value)
      const written = valueToJson(value)
      // A value survives being written and read.
      const again = valueToJson(valueFromJson(parseExactJson(written)))
      if (hasObjectLikeInteger(written)) return
      expect(again === written, `the value is changed: ${written.slice(0, 80)} and ${again.slice(0, 80)}`)
    },
    { allows: isSyntaxError, share: 2 },
  ),
  textTarget('decimals', ['0', '-1.50', `0.${'1'.repeat(255)}`, '1e-8', '123456789.5'], (text) => {
    const decimal = Decimal.parse(text)
    if (decimal !== null) expect(Decimal.parse(decimal.toString())?.compare(decimal) === 0, 'the decimal is changed')
  }),
  textTarget(
    'times',
    [
      `${ISO_SECONDS}\n2020-02-29T23:59:60Z`,
      `${ISO_MICROS}\n1999-12-31T00:00:00.5Z`,
      '%c\nMon Jan  6 2020',
      '%s%Q%j%V\n1',
    ],
    (text) => {
      const [format, ...rest] = text.split('\n')
      const time = parseTime(format, rest.join('\n'))
      if (time !== null) formatTime(ISO_MICROS, time)
      return time
    },
  ),
  textTarget(
    'capabilities',
    ['(coin.GAS)', '(coin.TRANSFER "a" "b" 1.5)', '(n.m.C [1 {"a": true}] -2.0)'],
    readCapability,
  ),
  textTarget('amounts', ['1', '1.5', '0.000000000001', '12345678901234567890.5'], readAmount),
  textTarget('contract commands', [command, continuation], (cmd) => readCommand({ hash: KEY, sigs: [], cmd })),
  textTarget(
    'proofs of verifiers',
    verifierSeeds(),
    (cmd) => {
      const command = readCommand({ hash: KEY, sigs: [], cmd })
      if (command instanceof CommandFault) return
      runVerifiers(evaluatorOn(new Layer(), { used: 0, limit: GAS_LIMIT * 100 }), command.verifiers, null)
    },
    { allows: isContractError, share: 0.2 },
  ),
]

/** Commands with valid verifiers, one of each kind. */
function verifierSeeds(): string[] {
  // A fixed key: a seed of the fuzzer always gives the same inputs.
  const key = newKey(Buffer.alloc(32, 7))
  const { bytes, id, object } = newMessage('body')
  const capability = (...args: unknown[]) => [{ name: 'm.CAP', args }]
  const hyperlane = (metadata: Buffer) => ({
    name: 'hyperlane_v3_message',
    proof: [base64url(bytes), base64url(metadata)],
    clist: capability(base64url(id), object, [key.address], { int: 1 }),
  })
  const part = 'ab'.repeat(32)
  const list = [{ '0x': part }, 'text', { decimal: '1.5' }]
  const signed = Buffer.concat([Buffer.from(part, 'hex'), Buffer.from('text1.5')])
  const uses = [
    { name: 'allow', proof: JSON.stringify(capability(1)[0]), clist: capability(1) },
    {
      name: 'signed_list',
      proof: [list, key.publicKey, signList(key, signed)],
      clist: capability(['text', { decimal: '1.5' }], key.publicKey),
    },
    hyperlane(rootMetadata(id, [key])),
    hyperlane(merkleMetadata(id, [key])),
  ]
  return uses.map((use) => JSON.stringify({ ...JSON.parse(command), verifiers: [use] }))
}
