/** `for-all` and `for-any-order` of test files. */
import { describe, expect, it } from 'vitest'
import type { PropertyRuns } from '../../src/language/contracts/repl/properties.ts'
import { languagesOf, runTests, type TestReport } from '../../src/language/contracts/repl/run.ts'
import { systemContracts } from '../../src/language/contracts/system/system.ts'

function run(text: string, chance: PropertyRuns = { seed: 7, runs: 256 }): TestReport {
  const contracts = new Map(systemContracts.map((each) => [`${each.name}.pact`, each.text]))
  const files = { resolve: (_: string, path: string) => path, read: (file: string) => contracts.get(file) ?? text }
  return runTests('t.repl', files, (test) => languagesOf(test, chance))
}

/** Why the only property of a text fails; null if it holds. */
function fault(text: string, chance?: PropertyRuns): string | null {
  const { failures, stopped, cases } = run(text, chance)
  expect(stopped).toBeNull()
  expect(cases.length).toBe(1)
  return failures[0]?.what ?? null
}

const VAULT = `(module vault G
  (defcap G () true)
  (defschema amount n:integer)
  (deftable amounts:{amount})
  (defun start () (insert amounts "v" {"n": 0}))
  (defun left () (at "n" (read amounts "v")))
  (defun put (n:integer) (enforce-keyset (read-keyset "owner")) (update amounts "v" {"n": (+ (left) n)}))
  (defun get (n:integer) (update amounts "v" {"n": (- (left) n)}) (enforce (!= n 3) "not three")))
(create-table amounts)
(start)
(env-data {"owner": ["a"]})
(env-keys ["a" "b"])
`

/** Coins on the chain of a test file. */
const LOAD_COIN = `(begin-tx)${systemContracts
  .slice(0, 4)
  .map(({ name }) => `(load "${name}.pact")`)
  .join('')}(create-table coin.coin-table)(create-table coin.allocation-table)(commit-tx)`

/** The signers as text: `a`, or `a, b`. */
const SIGNED = `(defun signed () (let ((text (format "{}" [(sig-keyset)]))) (drop 15 (drop -17 text))))\n`

describe('for-all', () => {
  it('for-all passes as one test if the function is true for all values', () => {
    const text = '(for-all "sum" [(gen-integer -9 9) (gen-decimal -1.0 1.0)] (lambda (a b) (= (+ a b) (+ b a))))'
    expect(fault(text)).toBeNull()
    expect(run(text).cases[0]).toMatchObject({ name: 'sum', what: null, milligas: null })
  })

  it.each([
    ['(gen-integer 0 1000)', '(< x 357)', '357'],
    ['(gen-integer -1000 -5)', '(> x -20)', '-20'],
    ['(gen-integer -1000 -5)', '(> x 0)', '-5'],
    ['(gen-integer -1000 1000)', '(!= x x)', '0'],
    ['(gen-decimal -9.0 -2.5 1)', '(> x 0.0)', '-2.5'],
    ['(gen-decimal 0.0 9.0 1)', '(< x 2.5)', '2.5'],
    ['(gen-bool)', '(= x false)', 'true'],
    ['(gen-string 1)', '(= x "")', '"a"'],
    ['(gen-string 30)', '(< (length x) 4)', '"aaaa"'],
    ['(gen-list (gen-integer 0 9) 20)', '(< (length x) 3)', '[0, 0, 0]'],
    ['(gen-one-of [1 2 3 4])', '(< x 3)', '3'],
    ['(gen-one-of [1.5 9.0 4.0])', '(< x 3.5)', '9.0'],
  ])('for-all shrinks a value of %s to the simplest for which %s is false', (generator, property, least) => {
    expect(fault(`(for-all "p" [${generator}] (lambda (x) ${property}))`)).toMatch(
      `returned false for ${least}, in run `,
    )
  })

  it.each([
    ['(gen-decimal 0.5 1.5 0)', '1.0'],
    ['(gen-decimal 0.001 0.019)', '0.01'],
    ['(gen-decimal -0.019 -0.001)', '-0.01'],
    ['(gen-decimal 1.5 1.5 1)', '1.5'],
  ])('for-all draws from %s only what is between the bounds', (generator, only) => {
    expect(fault(`(for-all "p" [${generator}] (lambda (x) (= x ${only})))`)).toBeNull()
  })

  it('for-all fails with the error of the function, and for a value other than true', () => {
    expect(fault('(for-all "p" [(gen-bool)] (lambda (x) (enforce false "never")))')).toMatch(/^failed with "never" for/)
    const text = '(for-all "p" [(gen-bool)] (lambda (x) 5))'
    expect(fault(text, { seed: 7, runs: 1 })).toBe('returned 5 for false, in run 1 of 1 with seed 7')
  })

  it('for-all takes false as simpler than true', () => {
    const whats = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) =>
      fault('(for-all "p" [(gen-bool)] (lambda (x) 5))', { seed, runs: 1 }),
    )
    expect(new Set(whats.map((what) => what?.split(',')[0]))).toEqual(new Set(['returned 5 for false']))
  })

  it('for-all prints a form that fails if it replaces the property', () => {
    const property = '(for-all "small" [(gen-integer 0 99) (gen-string 3)] (lambda (a s) (< a 50)))'
    const { output } = run(`${VAULT}${property}`)
    expect(output[0]).toBe('; in the place of t.repl:13:1, this fails:')
    const again = run(`${VAULT}${output.slice(1).join('\n')}`)
    expect(again.failures).toMatchObject([{ name: 'small', what: 'expected true, got false' }])
  })

  it('for-all draws the same values for the same seed, and names it', () => {
    const text = '(for-all "p" [(gen-integer 0 1000000)] (lambda (x) (< x 900000)))'
    const [one, other] = [1, 2].map((seed) => fault(text, { seed, runs: 256 }))
    expect(fault(text, { seed: 1, runs: 256 })).toBe(one)
    expect(one).toMatch(/in run \d+ of 256 with seed 1$/)
    expect(other).toMatch(/with seed 2$/)
    expect(
      new Set([3, 4, 5, 6].map((seed) => fault(text, { seed, runs: 256 })?.split('seed')[0])).size,
    ).toBeGreaterThan(1)
    const called = (name: string) => fault(text.replace('"p"', `"${name}"`), { seed: 1, runs: 256 })
    expect(new Set(['q', 'r', 's', 't'].map(called)).size).toBeGreaterThan(1)
    expect(fault('(for-all "p" [(gen-integer 1 9)] (lambda (x) (> x 0)))', { seed: 1, runs: 1 })).toBeNull()
  })

  it('for-all leaves no writes, and refuses a property that is not a function', () => {
    const { passed } = run(`${VAULT}(for-all "w" [(gen-integer 5 9)] (lambda (n) (vault.get n) (< (vault.left) 0)))
(expect "nothing stays" 0 (vault.left))`)
    expect(passed).toBe(2)
    const stop = (text: string) => run(text).stopped?.message
    expect(stop('(for-all "p" 1 (lambda (x) true))')).toBe('for-all takes a list of generators')
    expect(stop('(for-all "p" [] 1)')).toBe('for-all takes a function')
    expect(stop('(for-all "p" [])')).toBe('for-all takes 3 parts, not 2')
    expect(stop('(gen-integer 5 1)')).toBe('gen-integer: the first bound is above the second')
    expect(stop('(gen-decimal 0.001 0.009)')).toBe('gen-decimal: no number of 2 places is between the bounds')
    expect(stop('(gen-one-of [])')).toBe('gen-one-of: the list is empty')
    expect(stop('(gen-string 64)')).toBeUndefined()
    expect(stop('(gen-string 65)')).toBe('gen-string: expected 0 to 64, got 65')
  })
})

describe('for-any-order', () => {
  it('for-any-order warns of a call that fails each time, because the property says nothing about it', () => {
    const calls = '[(put (gen-integer 0 5)) (get (gen-integer 3 3))]'
    const { passed, output } = run(`${VAULT}(for-any-order "sum" ${calls} (>= (left) 0))`)
    expect(passed).toBe(1)
    expect(output).toEqual(['WARNING t.repl:13:48: get failed each time, at last: not three'])
  })

  const property = (invariant: string) =>
    `(for-any-order "v" [(vault.put (gen-integer 0 9)) (vault.get (gen-integer 0 9))] ${invariant})`

  it('for-any-order passes if the invariant holds after every call', () => {
    expect(fault(`${VAULT}${property('(> (vault.left) -1000)')}`)).toBeNull()
  })

  it('for-any-order makes at least one call in each run', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const what = `returned false after 1 call, in run 1 of 1 with seed ${seed}`
      expect(fault(`${VAULT}${property('false')}`, { seed, runs: 1 })).toBe(what)
    }
  })

  it('for-any-order finds a shorter sequence that no step of shrinking leads to', () => {
    const text = `(defun take-one-more (n:integer) (enforce (<= n (+ (vault.left) 1)) "no") (vault.get n))
(for-any-order "v" [(vault.put (gen-integer 0 10)) (take-one-more (gen-integer 0 10))] (>= (vault.left) 0))`
    for (let seed = 1; seed <= 20; seed++) {
      expect(fault(VAULT + text, { seed, runs: 256 })).toMatch(/^returned false after 1 call, /)
    }
  })

  it('for-any-order leaves out signatures, and finds a call that does harm without one', () => {
    const text = `(module door G (defcap G () true) (defschema s n:integer) (deftable visits:{s})
  (defun visitors () (with-default-read visits "v" {"n": 0} {"n" := n} n))
  (defun knock () (if (try false (enforce-keyset (read-keyset "owner"))) "in" (write visits "v" {"n": 1}))))
(create-table visits)
(for-any-order "v" [(door.knock)] (= (door.visitors) 0))`
    const { failures, output } = run(`${VAULT}${text}`)
    expect(failures).toHaveLength(1)
    const at = output.indexOf('(door.knock)')
    expect(output[at - 1]).toMatch(/^\(env-keys \[("b")?]\)$/)
  })

  it('for-any-order prints arguments as they stand, but values for generators', () => {
    const { output } = run(`${VAULT}(for-any-order "v" [(vault.put (+ 1 (length "abc")))] (< (vault.left) 4))`)
    expect(output).toContain('(vault.put (+ 1 (length "abc")))')
  })

  it('for-any-order evaluates the invariant with all signatures', () => {
    const [calls, few] = ['[(vault.get (gen-integer 0 1))]', { seed: 1, runs: 9 }]
    expect(fault(`${VAULT}(for-any-order "v" ${calls} (enforce-keyset (read-keyset "owner")))`, few)).toBeNull()
  })

  it('for-any-order shrinks to the shortest sequence, with signers, and prints it as forms that fail', () => {
    const { output, failures } = run(`${VAULT}${property('(< (vault.left) 12)')}`)
    expect(failures[0].what).toMatch(/^returned false after 2 calls, in run \d+ of 256 with seed 7$/)
    const calls = output.filter((line) => line.startsWith('(vault.put'))
    expect(calls).toHaveLength(2)
    // Any simpler argument would leave 11.
    const numbers = calls.map((call) => Number(/\d+/.exec(call)?.[0]))
    expect(numbers[0] + numbers[1]).toBe(12)
    expect(output.filter((line) => line.startsWith('(env-keys')).every((line) => line.includes('"a"'))).toBe(true)
    const again = run(`${VAULT}${output.slice(1).join('\n')}`)
    expect(again.stopped).toBeNull()
    expect(again.failures.length).toBe(1)
  })

  /** The property, and the forms that it prints in its place. */
  const reproduced = (setup: string, property: string, after = '') => {
    const { output, failures, stopped } = run(`${setup}${property}${after}`)
    expect(stopped).toBeNull()
    expect(failures.length).toBe(1)
    const lines = output.slice(output.findIndex((line) => line.startsWith('; in the place of')) + 1)
    const again = run(`${setup}${lines.join('\n')}${after}`)
    expect(again.stopped).toBeNull()
    expect(again.failures.length).toBe(1)
    expect(again.failures[0]?.name).toEqual(failures[0].name)
    return { lines, what: failures[0].what, again: again.failures[0].what }
  }

  const COINS = `(env-data {"k": ["a"], "l": ["b"]}) (env-keys ["a"]) (env-module-admin coin)
(test-capability (coin.COINBASE))
(coin.coinbase "alice" (read-keyset "k") 10.0)
(coin.coinbase "bob" (read-keyset "l") 10.0)
(env-sigs [{"key": "a", "caps": [(coin.TRANSFER "alice" "bob" 4.0)]} {"key": "b", "caps": []}])
(defun pay (amount:decimal) (coin.transfer "alice" "bob" amount))
(defun left () (coin.get-balance "alice"))
`

  it('for-any-order gives each call a transaction of its own, with the managed capabilities of its signatures', () => {
    // One transaction would allow 4.0 for all calls together.
    const setup = `${LOAD_COIN}(begin-tx)${COINS}(commit-tx)`
    const { lines, what, again } = reproduced(setup, '(for-any-order "rich" [(pay 4.0)] (> (left) 3.0))')
    expect(what?.split(',')[0]).toBe('returned false after 2 calls')
    expect(again).toBe('expected true, got false')
    const signed = '(env-sigs [{"key": "a", "caps": [(coin.TRANSFER "alice" "bob" 4.0)]}'
    const paid = ['(begin-tx)', `${signed}])`, '(pay 4.0)', '(commit-tx)']
    const other = ' {"key": "b", "caps": []}'
    expect(lines.map((line) => line.replace(other, ''))).toEqual([
      ...paid,
      ...paid,
      `${signed}])`,
      '(expect "rich" true (> (left) 3.0))',
    ])
    expect(lines.at(-2)).toContain(other)
    // A function of the test signs for what its own arguments need.
    const signs = '(env-sigs [{"key": "a", "caps": [(coin.TRANSFER "alice" "bob" n)]}])'
    const own = `(env-keys ["b"]) (defun own (n:decimal) ${signs} (pay n))`
    const installed = reproduced(
      `${setup}${own}`,
      '(for-any-order "own" [(own (gen-one-of [3.0 4.0]))] (> (left) 3.0))',
    )
    expect(installed.what).toMatch(/^returned false after [23] calls, /)
    expect(
      fault(`${setup}(for-any-order "limit" [(pay (gen-decimal 4.1 9.0 1))] (= (left) 10.0))`, { seed: 7, runs: 64 }),
    ).toBeNull()
  })

  it('for-any-order prints forms that fail within an open transaction, with its capabilities and names', () => {
    const property = '(for-any-order "rich" [(transfer "alice" "bob" 4.0)] (> (get-balance "alice") 3.0))'
    const inside = reproduced(`${LOAD_COIN}(begin-tx)(use coin)${COINS}`, property, '(commit-tx)')
    expect(inside.lines.slice(0, 3)).toEqual(['(commit-tx)', '(begin-tx)', '(use coin)'])
    const outside = reproduced(`${LOAD_COIN}(use coin)${COINS}`, property)
    expect(inside.again).toBe('expected true, got false')
    expect(outside.again).toBe('expected true, got false')
    expect(outside.lines.slice(0, 4)).toEqual(['(begin-tx)', '(commit-tx)', '(begin-tx)', '(use coin)'])
  })

  it('for-any-order begins each sequence in the same block, and prints calls that failed as refused', () => {
    const clock = `(env-chain-data {"block-height": 5}) (defun height () (at "block-height" (chain-data)))
(defun wait () (env-chain-data {"block-height": (+ 1 (height))}))
(defun knock () (env-chain-data {"block-height": (+ 1 (height))}) (enforce false "locked"))
`
    expect(reproduced(clock, '(for-any-order "h" [(wait)] (< (height) 8))').what).toMatch(
      /^returned false after 3 calls/,
    )
    const { lines } = reproduced(clock, '(for-any-order "h" [(knock)] (< (height) 7))')
    expect(lines.slice(0, 4)).toEqual([
      '(begin-tx)',
      '(env-keys [])',
      '(expect-failure "refused" (knock))',
      '(rollback-tx)',
    ])
    expect(run(`${clock}(for-any-order "h" [(wait)] (< (height) 8))(expect "stays" 5 (height))`).passed).toBe(1)
  })

  it('for-any-order restores data, signers and the open transaction', () => {
    const setup = `${VAULT}${SIGNED}(defun d () (env-data {"owner": ["z"]}))(begin-tx)(vault.put 4)`
    const { failures, passed, stopped } = run(`${setup}
(for-any-order "v" [(vault.put (gen-integer 0 9)) (d)] (= "a, b" (signed)))
(expect "data" true (= (format "{}" [(read-keyset "owner")]) "KeySet {keys: [a],pred: keys-all}"))
(expect "uncommitted" 4 (vault.left))
(rollback-tx)
(expect "rolled back" 0 (vault.left))
(expect "number" "Begin Tx 0" (begin-tx))`)
    expect(stopped).toBeNull()
    expect(failures).toEqual([])
    expect(passed).toBe(5)
  })

  it('for-any-order runs the invariant in a transaction that is rolled back, and reports its failure', () => {
    const writes = '(let ((before (vault.left))) (vault.get 1) (= before 0))'
    expect(fault(`${VAULT}(for-any-order "v" [(vault.get 0)] ${writes})`)).toBeNull()
    const { what, again } = reproduced(VAULT, '(for-any-order "v" [(vault.get 0)] (enforce false "never"))')
    expect(what).toBe('failed with "never" after 1 call, in run 1 of 256 with seed 7')
    expect(again).toBe('expected a value, got the error: never')
  })

  it('for-any-order prints the signers that the calls had', () => {
    const alone = `${VAULT}${SIGNED}(defun alone () (enforce (= "a" (signed)) "not alone") (vault.get 1))\n`
    const { lines } = reproduced(alone, '(for-any-order "v" [(alone)] (= (vault.left) 0))')
    expect(lines.slice(2, 5)).toEqual(['(begin-tx)', '(env-keys ["a"])', '(alone)'])
    expect(run(`${alone}(for-any-order "v" [(alone)] (<= (vault.left) 0))`).output).toEqual([])
  })

  it('for-any-order prints times, texts and lists so that they mean the same', () => {
    const values =
      '[(gen-one-of [(add-time (time "2024-02-03T04:05:06Z") 0.5)]) (gen-one-of ["a\\"b\\\\c"]) (gen-one-of [{"a": [1.5]}])]'
    const setup = '(defun f (t:time s:string o:object) (add-time t 1.0))\n'
    const all = `(for-all "typed" ${values} (lambda (t s o) (!= [(f t s o) s o] [(f t s o) s o])))`
    expect(reproduced(setup, all).again).toBe('expected true, got false')
  })

  it('for-any-order rolls back the writes of a call that fails', () => {
    const only = '(for-any-order "v" [(vault.get 3)] (= (vault.left) 0))'
    expect(fault(`${VAULT}${only}`)).toBeNull()
    expect(run(`${VAULT}${property('(< (vault.left) 12)')}\n(expect "nothing stays" 0 (vault.left))`).passed).toBe(1)
  })
})
