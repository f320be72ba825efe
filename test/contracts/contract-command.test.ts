/** `newcut test` with traces, reports of gas, snapshots, and results for other programs. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contractIn } from './contract-in.ts'

const MAIN = resolve(import.meta.dirname, '../../dist/src/main.js')
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'newcut-contract-'))
  write('m.pact', CONTRACT)
  write('good.repl', GOOD)
  write('bad.repl', BAD)
})

afterEach(() => rmSync(folder, { recursive: true }))

const CONTRACT = `(module m G
  (defcap G () true)
  (defun add (a:integer b:integer) (+ a b))
  (defun sure (a:integer) (enforce (> a 0) "not sure") a))`
const GOOD = `(load "m.pact")
(expect "adds" 3 (m.add 1 2))
(expect "adds" 7 (m.add 3 4))
(expect "is <sure> & \\"quoted\\"" 1 (m.sure 1))`
const BAD = `(load "m.pact")
(expect "adds" 3 (m.add 1 2))
(expect "is wrong #1" 4 (m.add 1 2))
(m.sure 0)`

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

const contract = (...args: string[]) => contractIn(folder, args)

describe('-v', () => {
  it('newcut test -v shows the steps of forms that failed, and -vv those of all forms', async () => {
    const { status, lines } = await contract('bad.repl', '-v')
    expect(status).toBe(1)
    const text = lines.join('\n')
    expect(text).toContain('bad.repl:3:1: failed')
    expect(text).toContain('└ m.add 1 2 → 3')
    expect(text).toContain('bad.repl:4:1: failed')
    expect(text).toContain('└ m.sure 0  FAILED: not sure')
    expect(text).toContain('failed in m.sure at m:4:27: not sure')
    expect(text).not.toContain('bad.repl:2:1')
    const all = (await contract('bad.repl', '-vv')).lines.join('\n')
    expect(all).toContain('bad.repl:2:1: passed')
    expect(all).toContain('module m → "Loaded module m, hash ')
    expect((await contract('good.repl', '-v')).lines).toEqual((await contract('good.repl')).lines)
  })

  it('newcut test -v shows short values, and -vvv whole ones', async () => {
    write('long.repl', `(load "m.pact")\n(expect "long" 0 (m.add ${'1'.repeat(90)} 0))`)
    expect((await contract('long.repl', '-vv')).lines.join('\n')).toContain(
      `└ m.add ${'1'.repeat(80)}… (90 characters) 0`,
    )
    expect((await contract('long.repl', '-vvv')).lines.join('\n')).toContain(`└ m.add ${'1'.repeat(90)} 0 → `)
  })

  it('newcut test -v shows no form that a test expects to fail, but the form that ends the test', async () => {
    write('fails.pact', '(m.sure 0)')
    write('expected.repl', '(load "m.pact")\n(expect-failure "fails" "not sure" (load "fails.pact"))')
    expect((await contract('expected.repl', '-v')).lines).toEqual((await contract('expected.repl')).lines)
    write('ended.repl', '(load "m.pact")\n(load "fails.pact")')
    const { lines } = await contract('ended.repl', '-v')
    expect(lines).toContain('fails.pact:1:1: failed')
  })

  it('newcut test -v adds the trees of steps to the JSON', async () => {
    const json = JSON.parse((await contract('bad.repl', '-v', '--json')).lines[0])
    expect(json.traces.map(({ form }: { form: string }) => form)).toEqual(['bad.repl:3:1', 'bad.repl:4:1'])
    expect(json.traces[0].trace.children[0]).toMatchObject({
      kind: 'call',
      name: 'm.add',
      args: ['1', '2'],
      result: '3',
    })
    expect(json.tests.map(({ name }: { name: string }) => name)).toEqual(['adds', 'is wrong #1'])
  })
})

describe('--gas-report', () => {
  it('newcut test --gas-report adds up the calls of all files', async () => {
    const { status, lines } = await contract('good.repl', 'bad.repl', '--gas-report')
    expect(status).toBe(1)
    // A call with two arguments costs 100, and adding small integers 130.
    expect(
      lines
        .find((line) => line.startsWith('  add '))
        ?.split(/ +/)
        .slice(1),
    ).toEqual(['add', '4', '0.230', '0.230', '0.230', '0.230', '0.920', '0.920'])
    const deployed = lines.slice(lines.indexOf('deployment'))
    expect(deployed[2].split(/ +/).slice(1, 3)).toEqual(['m', '2'])
    expect(deployed[2]).toContain(` ${CONTRACT.length} `)
    // The gas is that of a network, where places and natives take less than in test files.
    const listed = await contract('good.repl', '--gas')
    const loading = listed.lines.find((line) => line.endsWith('(module m G'))
    const [here, there] = [loading?.trim().split(' ')[0], deployed[2].split(/ +/)[3]].map(Number)
    expect(there).toBeGreaterThan(0.5 * here)
    expect(there).toBeLessThan(here)
  })
})

describe('.gas-snapshot', () => {
  it('a .gas-snapshot has a sorted line for each test, and --check then passes', async () => {
    expect((await contract('good.repl', '--gas-snapshot')).status).toBe(0)
    const lines = read('.gas-snapshot').trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^good\.repl:adds \d+$/),
      expect.stringMatching(/^good\.repl:adds \(2\) \d+$/),
      expect.stringMatching(/^good\.repl:is <sure> & "quoted" \d+$/),
    ])
    expect((await contract('good.repl', '--check')).status).toBe(0)
  })

  it('newcut test --check fails with the tests whose gas differs by more than the tolerance', async () => {
    const adding = (zeros: number) => CONTRACT.replace('(+ a b)', `(fold (+) (+ a b) [${'0 '.repeat(zeros)}])`)
    const gasIn = () => Number(/^good\.repl:adds (\d+)$/m.exec(read('.gas-snapshot'))?.[1])
    write('m.pact', adding(44))
    await contract('good.repl', '--gas-snapshot')
    const is = gasIn()
    write('m.pact', adding(40))
    await contract('good.repl', '--gas-snapshot')
    const [was, kept] = [gasIn(), read('.gas-snapshot')]
    expect(is).toBeGreaterThan(was)
    write('m.pact', adding(44))
    const { status, lines } = await contract('good.repl', '--gas-snapshot', '--check')
    expect(status).toBe(1)
    const percent = ((is - was) * 100) / was
    expect(lines.slice(-4, -1)).toEqual([
      `good.repl:adds: gas ${was} -> ${is} (+${is - was}, +${percent.toFixed(2)} %)`,
      `good.repl:adds (2): gas ${was} -> ${is} (+${is - was}, +${percent.toFixed(2)} %)`,
      '.gas-snapshot: 2 tests differ',
    ])
    expect((await contract('good.repl', '--check', '--tolerance', `${(percent + 0.01).toFixed(2)}%`)).status).toBe(0)
    expect((await contract('good.repl', '--check', '--tolerance', (percent - 0.01).toFixed(2))).status).toBe(1)
    expect(read('.gas-snapshot')).toBe(kept)
  })

  it('newcut test --check names new and missing tests, but none of files that did not run', async () => {
    write('other.repl', GOOD)
    await contract('good.repl', 'other.repl', '--gas-snapshot')
    expect((await contract('good.repl', '--check')).status).toBe(0)
    write('good.repl', GOOD.replace('(expect "adds" 7', '(expect "sums" 7'))
    const { status, lines } = await contract('good.repl', '--check')
    expect(status).toBe(1)
    expect(lines).toContain('good.repl:adds (2): gone, gas was 1')
    expect(lines).toContain('good.repl:sums: new, gas 1')
  })

  it('newcut test --check names a .gas-snapshot that is missing or damaged', async () => {
    expect((await contract('good.repl', '--check')).stderr).toContain(
      '--check cannot read .gas-snapshot: it does not exist (ENOENT)',
    )
    write('.gas-snapshot', 'good.repl:adds 1\nno gas\n')
    expect((await contract('good.repl', '--check')).stderr).toContain(
      '.gas-snapshot:2: expected FILE:NAME GAS, not no gas',
    )
    expect((await contract('good.repl', '--tolerance', '1%')).stderr).toContain(
      '--tolerance has no effect: it is for --check',
    )
    expect((await contract('good.repl', '--check', '--tolerance', 'much')).stderr).toContain(
      'expected per cent from 0 to 10000',
    )
  })
})

describe('results for other programs', () => {
  it('newcut test --tap prints a plan, escaped names, and the reason of each failure', async () => {
    const { status, lines } = await contract('good.repl', 'bad.repl', '--tap')
    expect(status).toBe(1)
    expect(lines).toEqual([
      'TAP version 14',
      '1..6',
      'ok 1 - good.repl: adds',
      'ok 2 - good.repl: adds',
      'ok 3 - good.repl: is <sure> & "quoted"',
      'ok 4 - bad.repl: adds',
      'not ok 5 - bad.repl: is wrong \\#1',
      '  ---',
      '  message: "expected 4, got 3"',
      '  at: "bad.repl:3:1"',
      '  ...',
      'not ok 6 - bad.repl: the file runs to its end',
      '  ---',
      '  message: "not sure"',
      '  at: "m.pact:4:27"',
      '  ...',
    ])
  })

  it('newcut test --junit writes XML whose elements are closed', async () => {
    await contract('good.repl', 'bad.repl', '--junit', 'out.xml')
    const xml = read('out.xml')
    expect(xml).toContain('<testsuites name="newcut test" tests="6" failures="2" errors="0" time="')
    expect(xml).toContain('<testsuite name="bad.repl" tests="3" failures="2" errors="0" skipped="0" time="')
    expect(xml).toContain('name="is &lt;sure&gt; &amp; &quot;quoted&quot;" time="')
    expect(xml).toContain('<failure message="expected 4, got 3">bad.repl:3:1: expected 4, got 3&#10;expected:&#10;  4')
    const opened = [...xml.matchAll(/<([\w-]+)[^>/]*>/g)].map(([, name]) => name)
    const closed = [...xml.matchAll(/<\/([\w-]+)>/g)].map(([, name]) => name)
    expect(opened.toSorted()).toEqual(closed.toSorted())
    expect((await contract('good.repl', '--junit', 'no/such/out.xml')).stderr).toContain(
      '--junit no/such/out.xml: there is no folder no/such (ENOENT)',
    )
  })

  it('newcut test --match counts only tests of that name, though all code runs', async () => {
    const { status, lines } = await contract('good.repl', 'bad.repl', '--match', 'quoted')
    expect(lines.slice(0, 1)).toEqual(['ok   good.repl  1 test, 2 skipped T'])
    // An early end counts: tests after it did not run.
    expect(status).toBe(1)
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 4 skipped, 2 files, T')
    const adds = '2 passed, 0 failed, 1 skipped, 1 file, T'
    expect((await contract('good.repl', '--match', 'adds')).lines.at(-1)).toBe(adds)
    expect((await contract('good.repl', '--match', '/^ADD/i')).lines.at(-1)).toBe(adds)
    const none = await contract('good.repl', '--match', 'subtracts')
    expect(none.status).toBe(1)
    expect(none.stderr).toBe('no test has a name that contains "subtracts"\n')
    expect((await contract('good.repl', '--match', '/adds$\\d/')).stderr).toBe(
      'no test has a name that matches /adds$\\d/\n',
    )
    const wrong = await contract('good.repl', '--match', '/(adds/')
    expect(wrong.status).toBe(2)
    expect(wrong.stderr).toContain('--match /(adds/: not a regular expression: Unterminated group')
  })
})

describe('several files', () => {
  it('newcut test prints the same with one thread and with several, sorted by file', async () => {
    const files = Array.from({ length: 6 }, (_, i) => `f${i}.repl`)
    for (const [i, name] of files.entries()) write(name, `(expect "number ${i}" ${i} (+ ${i} ${i % 3 === 2 ? 1 : 0}))`)
    const one = await contract(...files, '--jobs', '1', '-v', '--gas')
    expect(await contract(...files, '--jobs', '3', '-v', '--gas')).toEqual(one)
    const heads = one.lines.flatMap((line) => /^(?:ok {2}|FAIL) (f\d\.repl)/.exec(line)?.[1] ?? [])
    expect(heads).toEqual(files)
    for (const jobs of ['0', 'x', '1000'])
      expect((await contract('f0.repl', '--jobs', jobs)).stderr).toContain('--jobs')
  })
})

describe('--watch', () => {
  it('newcut test --watch runs again when a loaded file changes, until SIGINT', async () => {
    const child = spawn(process.execPath, [MAIN, 'test', 'good.repl', '--watch'], { cwd: folder })
    let out = ''
    const until = (text: RegExp) =>
      new Promise<void>((found) => {
        const look = () => {
          if (!text.test(out)) return
          child.stdout.off('data', look)
          found()
        }
        child.stdout.on('data', look)
        look()
      })
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const ended = new Promise((end) => child.once('exit', end))
    await until(/3 passed, 0 failed, .*\nwatching 2 files: Ctrl-C ends\n/)
    out = ''
    write('m.pact', CONTRACT.replace('(+ a b)', '(- a b)'))
    await until(/m\.pact has changed\n[\s\S]*1 passed, 2 failed, .*\nwatching/)
    child.kill('SIGINT')
    await ended
    expect(existsSync(join(folder, '.gas-snapshot'))).toBe(false)
  })
})
