/**
 * The project of a token and an exchange in `examples/`, through every command for contracts. test/docs-samples.test.ts
 * runs the commands of its README.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { childEnv } from '../children.ts'
import { writeDeclarations } from '../compiler.ts'
import { root } from '../docs-samples/blocks.ts'
import { copyExample, installInto } from '../docs-samples/programs.ts'
import { itWith, lackOf } from '../needs.ts'

const EXAMPLE = 'examples/exchange'
const MAIN = join(root, 'dist/src/main.js')
const TESTS = ['token.repl', 'exchange.repl', 'properties.repl']
const home = mkdtempSync(join(tmpdir(), 'newcut-example-'))
installInto(home)
const folder = copyExample(EXAMPLE, home)
afterAll(() => rmSync(home, { recursive: true }))

const runIn = (program: string, args: readonly string[]) => {
  const env = { ...childEnv, HOME: home }
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: folder, env })
  return { status, out: stdout, err: stderr, lines: stdout.trimEnd().split('\n') }
}
const newcut = (...args: string[]) => runIn(process.execPath, ['--no-warnings', MAIN, ...args])
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

/** Changes a file while `body` runs. The text must occur once. */
function changed<T>(name: string, from: string, to: string, body: () => T): T {
  const text = read(name)
  expect(text.split(from)).toHaveLength(2)
  writeFileSync(
    join(folder, name),
    text.replace(from, () => to),
  )
  try {
    return body()
  } finally {
    writeFileSync(join(folder, name), text)
  }
}

describe('newcut test', () => {
  it('the example passes with full coverage and the gas of its snapshot, in files for a CI server', () => {
    const reports = ['--coverage-min', '100,100', '--lcov', 'lcov.info', '--junit', 'junit.xml', '--gas-report']
    const { status, lines } = newcut('test', ...TESTS, ...reports)
    expect(status, lines.join('\n')).toBe(0)
    expect(lines.at(-1)).toMatch(/^115 passed, 0 failed, 0 skipped, 3 files, /)
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}swap +\d+ /))
    expect(lines.at(-2)).toMatch(/^all files +100\.0 % .* 100\.0 % .* 100\.0 % /)
    expect(read('junit.xml')).toContain('<testsuites name="newcut test" tests="115" failures="0" errors="0" time="')
    expect(newcut('test', ...TESTS, '--gas-snapshot', '--check', '--tolerance', '1%').status).toBe(0)
  })

  it('the gas report of the example counts the calls of exchange.repl as by hand', () => {
    newcut('test', 'exchange.repl', '--lcov', 'one.info')
    const [, record] = /SF:exchange\.pact\n([\s\S]*?)end_of_record/.exec(read('one.info')) ?? []
    const hits = [...record.matchAll(/^FNDA:(\d+),free\.exchange\.(\S+)$/gm)].map(([, n, name]) => [name, Number(n)])
    expect(Object.fromEntries(hits)).toMatchObject({
      ...{ 'create-pool': 4, deposit: 12, withdraw: 7, swap: 9 },
      // Two quotes of their own, and one of each swap but that of nothing.
      quote: 10,
      // Three trades, two of each withdrawal, and one that is refused.
      pay: 10,
      // The amount of 3.0 shares is refused by the manager, that of 11.0 after it.
      ...{ WITHDRAW: 6, 'WITHDRAW-mgr': 5, GOVERNANCE: 2 },
      ...{ CREATED: 1, DEPOSITED: 7, WITHDRAWN: 3, SWAPPED: 3 },
    })
    expect(record).toMatch(/^FNF:20\nFNH:20$/m)
    const functions = read('exchange.pact').match(/^ {2}\(def(?:un|cap|pact) /gm)
    expect(functions).toHaveLength(20)
  })

  itWith(
    lackOf('genhtml'),
    'newcut test writes coverage of the example that genhtml reads, with the same figures',
    () => {
      newcut('test', ...TESTS, '--lcov', 'all.info')
      const { status, out, err } = runIn('genhtml', ['--branch-coverage', '-o', 'html', 'all.info'])
      expect(status).toBe(0)
      expect(err).toBe('')
      expect(out).toMatch(/lines\.*: 100\.0% \(215 of 215 lines\)/)
      expect(out).toMatch(/functions\.*: 100\.0% \(41 of 41 functions\)/)
      expect(out).toMatch(/branches\.*: 100\.0% \(84 of 84 branches\)/)
    },
  )

  it('newcut test finds a capability that no test of the example sees refused', () => {
    const refused = '(expect-failure "bob changes no module" "Keyset failure" (load "exchange.pact"))'
    const { status, lines } = changed('exchange.repl', refused, '', () =>
      newcut('test', ...TESTS, '--coverage-min', '100,100'),
    )
    expect(status).toBe(1)
    expect(lines).toContain('exchange.pact:37:3: capability free.exchange.GOVERNANCE was never refused')
  })

  it('newcut test names the tests of the example that need more gas than before', () => {
    const once = '(sold::transfer account reserve amount)'
    const { status, lines } = changed('exchange.pact', once, `(get-pool sold bought) ${once}`, () =>
      newcut('test', ...TESTS, '--gas-snapshot', '--check', '--tolerance', '1%'),
    )
    expect(status).toBe(1)
    expect(lines).toContainEqual(expect.stringMatching(/exchange\.repl:is what one gets: gas \d+ -> \d+ \(\+\d+, /))
    expect(lines).not.toContainEqual(expect.stringMatching(/a quote: gas/))
  })

  it.each([
    ['(* amount (- 1.0 FEE))', '(* amount (+ 1.0 FEE))', 'the product never falls'],
    ['"second-reserve": (- second-reserve second-out),', '"second-reserve": second-reserve,', 'sums of balances'],
  ])('newcut test finds by chance a fault that the exchange has with %s as %s', (right, wrong, name) => {
    const { status, lines } = changed('exchange.pact', right, wrong, () => newcut('test', 'properties.repl'))
    expect(status).toBe(1)
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^ {2}FAIL .*${name}`)))
    expect(lines).toContainEqual(expect.stringMatching(/^ {4}found {6}in run \d+ of \d+ with seed /))
    expect(lines).toContainEqual(expect.stringMatching(/in the place of properties\.repl:.*this fails:/))
  })

  it('an early end names the place in the contract, and that in the test', () => {
    const expected = '(expect "bob gets coins" 9.519414385741 (swap free.token coin'
    const { lines } = changed('exchange.repl', expected, `(swap free.token coin`, () => {
      // The expectation ends with one parenthesis more than the call.
      return changed('exchange.repl', '42.0 9.0))', '42.0 99.0)', () => newcut('test', 'exchange.repl'))
    })
    const end = lines.slice(lines.indexOf('  FAIL the file ends early'))
    expect(end[1]).toMatch(/^ {4}exchange\.pact:\d+:7$/)
    expect(end[4]).toMatch(/^ {4}called at exchange\.repl:\d+:1$/)
    expect(end.at(-3)).toMatch(/^ {4}The price has moved: /)
  })
})

it('the example is formatted, and its contracts.d.ts is what newcut types makes', () => {
  const code = ['setup.repl', 'fork.repl', 'token.pact', 'exchange.pact', ...TESTS]
  expect(newcut('format', '--check', ...code)).toMatchObject({ status: 0, out: '' })
  const before = read('contracts.d.ts')
  const made = newcut('types', 'token.pact', 'exchange.pact', 'coin', '--out', 'contracts.d.ts')
  expect(made.status, made.err).toBe(0)
  expect(read('contracts.d.ts')).toBe(before)
})

it('the example trades on a network, with a trace whose steps add up, and on a fork without the network', () => {
  writeDeclarations()
  const compiled = runIn(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')])
  expect(compiled.status, compiled.out).toBe(0)
  const ours = `'${process.execPath}' --no-warnings '${MAIN}'`
  const forked = `contract --fork "$NEWCUT_NODE" --fork-cut cut.json --fork-cache cache fork.repl`
  const steps = [
    `'${process.execPath}' build/trade.js > trade.txt`,
    `${ours} trace "$(sed -n 's/^trade: //p' trade.txt)" --json > trace.json`,
    `${ours} fork "$NEWCUT_NODE" > cut.json`,
    `${ours} ${forked}`,
  ]
  const network = ['--auto-mine', 'on-arrival:10', '--graph', 'singleton']
  const { status, out, err } = newcut('devnet', ...network, '--exec', steps.join(' && '))
  expect(status, err).toBe(0)
  expect(out).toMatch(/^5 passed, 0 failed/m)
  expect(read('trade.txt')).toMatch(/^free\.exchange\.SWAPPED "coin\/free\.token" "sender00" 10\.0 36\.26443575 /m)

  const { gas, status: outcome, trace } = JSON.parse(read('trace.json'))
  const own = (node: { gasOwn: number; children: [] }): number =>
    node.children.reduce((sum, child) => sum + own(child), node.gasOwn)
  expect(outcome).toBe('success')
  expect(own(trace)).toEqual(gas * 1000)

  const offline = newcut(...forked.replace('"$NEWCUT_NODE"', 'http://127.0.0.1:1').split(' '))
  expect(offline.out).toMatch(/^5 passed, 0 failed/m)
  expect(offline.err).toContain('requests to http://127.0.0.1:1: 0')
})
