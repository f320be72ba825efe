/** Capabilities of the language, names of keysets and namespaces, and the native that stores modules again. */
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/language/contracts/machine/environment.ts'
import { CapabilityToken, UNIT } from '../../src/language/contracts/values/value.ts'
import { evaluatorOn, freeGas, Layer, outcome, runOn } from './evaluator.ts'
import { obj } from './native-call.ts'

const data = obj({ ks: ['key'], other: ['other'] })
/** A signer whose signature is limited to one capability of the language. */
function limited(name: string, subject: string): Partial<Message> {
  return { data, signers: new Map([['key', [new CapabilityToken(`pact.${name}`, [subject])]]]) }
}
const signed: Partial<Message> = { data, signers: new Map([['key', []]]) }

function prepared(...texts: string[]): Layer {
  const state = new Layer()
  for (const text of texts) {
    const layer = new Layer(state)
    runOn(evaluatorOn(layer, freeGas(), signed), text)
    layer.mergeInto(state)
  }
  return state
}

/** The result of a text signed in this way, or its error. */
function tried(state: Layer, message: Partial<Message>, text: string) {
  const found = outcome(evaluatorOn(new Layer(state), freeGas(), message), text)
  return 'value' in found ? found.value : found.error.message
}

const REFUSED = expect.stringContaining('Keyset failure (keys-all)')

describe('a signature limited to', () => {
  const state = prepared(
    '(define-keyset "ks" (read-keyset "ks"))',
    '(define-namespace "ns" (read-keyset "ks") (read-keyset "ks"))',
  )

  it('a signature limited to DEFINE_KEYSET changes that keyset', () => {
    const change = '(define-keyset "ks" (read-keyset "other"))'
    expect(tried(state, limited('DEFINE_KEYSET', 'ks'), change)).toBe('Keyset write success')
    expect(tried(state, limited('DEFINE_KEYSET', 'other'), change)).toEqual(REFUSED)
    expect(tried(state, limited('NAMESPACE', 'ks'), change)).toEqual(REFUSED)
  })

  it('a signature limited to DEFINE_NAMESPACE changes that namespace', () => {
    const change = '(define-namespace "ns" (read-keyset "other") (read-keyset "other"))'
    expect(tried(state, limited('DEFINE_NAMESPACE', 'ns'), change)).toBe('Namespace defined: ns')
    expect(tried(state, limited('NAMESPACE', 'ns'), change)).toEqual(REFUSED)
    expect(tried(state, limited('DEFINE_NAMESPACE', 'other'), change)).toEqual(REFUSED)
  })

  it('a signature limited to NAMESPACE installs modules in that namespace', () => {
    const install = '(namespace "ns") (module m G (defcap G () true))'
    expect(tried(state, limited('NAMESPACE', 'ns'), install)).toMatch(/^Loaded module ns\.m/)
    expect(tried(state, limited('NAMESPACE', 'free'), install)).toEqual(REFUSED)
  })

  it('a signature limited to MODULE_KEYSET installs and upgrades that module, and grants nothing else', () => {
    const install = '(module m "ks" (defun f () 1))'
    expect(tried(state, limited('MODULE_KEYSET', 'm'), install)).toMatch(/^Loaded module m/)
    expect(tried(state, limited('MODULE_KEYSET', 'n'), install)).toEqual(REFUSED)
    const installed = prepared('(define-keyset "ks" (read-keyset "ks"))', install)
    const upgrade = '(module m "ks" (defun f () 2))'
    expect(tried(installed, limited('MODULE_KEYSET', 'm'), upgrade)).toMatch(/^Loaded module m/)
    expect(tried(installed, limited('MODULE_KEYSET', 'n'), upgrade)).toEqual(REFUSED)
    expect(tried(installed, limited('MODULE_KEYSET', 'm'), '(acquire-module-admin m)')).toEqual(REFUSED)
    expect(tried(installed, limited('MODULE_KEYSET', 'm'), `${upgrade} (enforce-keyset "ks")`)).toEqual(REFUSED)
  })
})

describe('names', () => {
  it.each(['ns', 'é', 'a²', 'a|b~1'])('%s is a valid name of a namespace', (name) => {
    expect(tried(new Layer(), signed, `(define-namespace "${name}" (read-keyset "ks") (read-keyset "ks"))`)).toBe(
      `Namespace defined: ${name}`,
    )
  })

  it.each(['', '1a', '_a', '|a', 'a.b', 'a b', 'aŁ'])('"%s" is not a valid name of a namespace', (name) => {
    const found = outcome(
      evaluatorOn(new Layer(), freeGas(), signed),
      `(define-namespace "${name}" (read-keyset "ks") (read-keyset "ks"))`,
    )
    expect(found).toMatchObject({
      error: { wireMessage: 'Native execution failed for define-namespace with the message: invalid namespace format' },
    })
  })

  it.each(['(define-keyset "" (read-keyset "ks"))', '(enforce-keyset "")', '(keyset-ref-guard "")'])(
    '%s is refused because the name of the keyset is invalid',
    (code) => {
      expect(tried(new Layer(), signed, code)).toBe('Invalid keyset name format: ')
    },
  )
})

describe('static-redeploy', () => {
  const code = '(module m G (defcap G () (enforce false "closed")) (defconst c 420) (defun f (a:integer) (+ a c)))'
  const state = prepared(code)

  it('static-redeploy stores a module as it is, and gives no permission', () => {
    const evaluator = evaluatorOn(state)
    const before = runOn(evaluator, '(at "hash" (describe-module "m"))')
    expect(runOn(evaluator, '(static-redeploy "m")')).toBe(UNIT)
    expect(runOn(evaluator, '(at "hash" (describe-module "m"))')).toBe(before)
    expect(runOn(evaluator, '(m.f 1)')).toBe(421n)
    expect(outcome(evaluator, '(acquire-module-admin m)')).toMatchObject({ error: { message: 'closed' } })
  })

  it('static-redeploy costs the bytes that it writes', () => {
    const gas = freeGas()
    runOn(evaluatorOn(state, gas), '(static-redeploy "m")')
    expect(gas.used).toBeGreaterThan(200 * code.length)
  })

  it.each([
    ['(static-redeploy "nothing")', 'Cannot find module: nothing'],
    ['(static-redeploy "a.b.c")', expect.stringContaining('invalid module name format')],
    ['(static-redeploy "")', expect.stringContaining('invalid module name format')],
    ['(static-redeploy m)', expect.stringContaining('failed to call native function static-redeploy')],
    [
      '(module n G (defcap G () true) (defun f () (static-redeploy "m"))) (n.f)',
      expect.stringContaining('Top-level call used in module'),
    ],
  ])('static-redeploy refuses %s', (text, message) => {
    expect(outcome(evaluatorOn(new Layer(state)), text)).toMatchObject({ error: { message } })
  })
})

it('verify-spv refuses every proof where there are no other chains', () => {
  expect(outcome(evaluatorOn(new Layer()), '(verify-spv "TXOUT" {"chain": 1.0})')).toMatchObject({
    error: { message: 'SPV verification failure: SPV verification not supported' },
  })
})

it('logarithms of integers beyond all doubles have the digits of the public network', () => {
  const value = (code: string) => runOn(evaluatorOn(new Layer()), `(format "{}" [${code}])`)
  expect(value('(ln (^ 420 420))')).toBe('2536.90697873651379268267191946506500244140625')
  expect(value('(log 10 (^ 10 1000))')).toBe('1000')
  expect(value('(log (^ 2 2000) (^ 2 4000))')).toBe('2')
  // The double nearest to 921.03403719761827360719...
  expect(value('(ln (^ 10 400))')).toBe('921.034037197618317804881371557712554931640625')
  expect(value('(ln (dec (^ 10 400)))')).toBe(value('(ln (^ 10 400))'))
  expect(value('(ln (* 0.1 (^ 10.0 401)))')).toBe(value('(ln (^ 10 400))'))
})
