/** The lines of `newcut test` in terminals and pipes, its annotations, its gas baseline, and the keys of a watch. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newcut } from '../../src/commands/command-line.ts'
import { untilStopped } from '../../src/ground/platform/shutdown.ts'
import { run } from '../cli/run.ts'
import { noTerminal, startInTerminal, stopTerminals } from '../cli/terminal.ts'
import { describeWith } from '../needs.ts'
import { until } from '../wait.ts'
import { contractIn } from './contract-in.ts'

let folder = ''
const before = process.cwd()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'newcut-view-'))
  process.chdir(folder)
})

afterEach(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true })
})

const contract = (...args: string[]) => contractIn(folder, args)

/** Runs `newcut test` in a terminal of this width. `text` is all that it has written. */
function inTerminal(args: readonly string[], columns: number, environment: Record<string, string>) {
  let text = ''
  const out = { isTTY: true, columns, write: (part: string) => (text += part) }
  const ended = newcut(['test', ...args], {
    version: '0',
    environment,
    out,
    err: out,
    input: () => new Uint8Array(),
    nowMs: () => 0,
    untilStopped,
  })
  return { ended, text: () => text }
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`)

describe('a terminal', () => {
  const wide = `(expect "ein Name, der für vierzig Spalten viel zu lang ist" 1 1)
      (expect "長い名前と長い値" "${'x'.repeat(60)} same ${'y'.repeat(60)}" (+ "${'x'.repeat(60)} other " "${'y'.repeat(60)}"))
\t(expect "two" [1 2 3 4 5 6 7 8 9 10 11 12 13] (+ [1 2 3] [9 8 7]))`

  it('newcut test fits in 40 columns, with the caret below its word, and keeps what differs', async () => {
    writeFileSync('a.repl', wide)
    const { ended, text } = inTerminal(['a.repl'], 40, { LANG: 'C.UTF-8', NO_COLOR: '1' })
    expect(await ended).toBe(1)
    const lines = text().trimEnd().split('\n')
    // The total is for scripts, and stays whole.
    for (const line of lines.slice(0, -1)) expect(stringWidth(line), line).toBeLessThanOrEqual(60)
    const frames = lines.flatMap((line, i) => (/^ +\d+ \|/.test(line) ? [[line, lines[i + 1]]] : []))
    for (const [line, caret] of frames) {
      expect(stringWidth(line)).toBeLessThanOrEqual(40)
      expect(line.slice(caret.indexOf('^'))).toMatch(/^\(expect /)
    }
    expect(frames.map(([line]) => line.trim().split(' ')[0])).toEqual(['2', '3'])
    expect(lines.find((line) => line.includes('- …'))).toMatch(/x same y/)
    expect(lines.find((line) => line.includes('✓'))).toMatch(/…/)
  })

  it.each([
    ['a terminal', true, {}, true],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a pipe', false, {}, false],
    ['a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
  ] as const)('newcut test has colours in %s: %s %o %s', async (_, isTerminal, environment, hasColours) => {
    writeFileSync('a.repl', '(expect "one" 1 2)')
    const terminal = inTerminal(['a.repl'], 80, { ...environment })
    await terminal.ended
    const text = isTerminal ? terminal.text() : (await run(['test', 'a.repl'], { ...environment })).out
    // A terminal without colours still moves its cursor.
    expect(COLOUR.test(text)).toBe(hasColours)
    expect(stripVTControlCharacters(text).trimEnd().split('\n').at(-1)).toMatch(
      /^0 passed, 1 failed, 0 skipped, 1 file, /,
    )
  })

  it('newcut test marks tests with signs where UTF-8 is supported, and with words elsewhere', async () => {
    writeFileSync('a.repl', '(expect "one" 1 1)\n(expect "two" 1 2)')
    const marks = async (environment: Record<string, string>) => {
      const { out } = await run(['test', 'a.repl', '-v', '--match', 'two'], environment)
      return [...out.matchAll(/^ {2}(\S+) +(?:one|two)/gm)].map(([, mark]) => mark)
    }
    expect(await marks({ LANG: 'de_DE.utf8' })).toEqual(['○', '✗'])
    expect(await marks({ LANG: 'de_DE.utf8', LC_ALL: 'C' })).toEqual(['skip', 'FAIL'])
    expect(await marks({})).toEqual(['skip', 'FAIL'])
  })

  it('newcut test shows no control characters of names and values', async () => {
    writeFileSync('a.repl', '(expect "na\u001b[31mme" "\u001b]0;x\u0007" (+ "\u001b[2J" ""))')
    const { out } = await run(['test', 'a.repl'])
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })
})

describe('lines of a file', () => {
  it('a file of more than 40 tests folds those that passed, unless -v lists them', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `(expect "t${i}" 1 1)`).join('\n')
    writeFileSync('forty.repl', many(40))
    writeFileSync('more.repl', `${many(40)}\n(expect "wrong" 1 2)`)
    expect((await contract('forty.repl')).lines).toHaveLength(42)
    const folded = (await contract('more.repl')).lines
    expect(folded.filter((line) => /^ {2}(?:ok|FAIL)/.test(line)).map((line) => line.split(' ')[3])).toEqual(['wrong'])
    expect((await contract('more.repl', '-v')).lines.filter((line) => /^ {2}(?:ok|FAIL)/.test(line))).toHaveLength(41)
    const both = (await contract('forty.repl', 'more.repl')).lines
    expect(both.slice(0, 2)).toEqual(['ok   forty.repl  40 tests T', 'FAIL more.repl  1 of 41 tests failed T'])
    expect(both.at(-1)).toBe('80 passed, 1 failed, 0 skipped, 2 files, T')
  })

  it('a failed test of lists or objects shows the lines that differ, with few others around', async () => {
    const list = (from: number) => `[${Array.from({ length: 30 }, (_, i) => i + (i === 20 ? from : 0)).join(' ')}]`
    writeFileSync('a.repl', `(expect "a" {"list": ${list(0)}, "name": "n"} {"name": "n", "list": ${list(5)}})`)
    const { lines } = await contract('a.repl')
    const from = lines.indexOf('    - expected  + actual')
    expect(lines.slice(from, from + 11).map((line) => line.slice(4))).toEqual([
      '- expected  + actual',
      '  ... 19 equal lines',
      '      17,',
      '      18,',
      '      19,',
      '-     20,',
      '+     25,',
      '      21,',
      '      22,',
      '      23,',
      '  ... 9 equal lines',
    ])
  })

  it('values that look alike are shown as source', async () => {
    writeFileSync('a.repl', '(expect "t" (add-time (time "2020-01-01T00:00:00Z") 0.5) (time "2020-01-01T00:00:00Z"))')
    expect((await contract('a.repl')).lines.join('\n')).toMatch(
      /expected +\(parse-time .*00\.500000Z"\)\n +actual +\(parse-time/,
    )
  })

  it('a property shows its shrunk inputs, and an expectation where its code failed', async () => {
    writeFileSync('m.pact', '(module m G (defcap G () true)\n  (defun f (n) (enforce (< n 9) "too much") n))')
    writeFileSync(
      'a.repl',
      '(load "m.pact")\n(for-all "p" [(gen-integer 0 99)] (lambda (n) (< n 9)))\n(expect "e" 9 (m.f 9))',
    )
    const text = (await contract('a.repl', '--seed', '3')).lines.join('\n')
    expect(text).toMatch(/FAIL p.*\n(?:.*\n)*? {4}inputs {5}9\n {4}found {6}in run \d+ of 256 with seed 3\n/)
    expect(text).toContain(
      'the error: too much\n    failed at m.pact:2:16\n    2 | (defun f (n) (enforce (< n 9) "too much") n))',
    )
  })
})

describe('annotations', () => {
  it('newcut test escapes annotations of GitHub, whose paths are those of the repository', async () => {
    writeFileSync('a,b.repl', '(expect "100 %: a, b" "x" (+ "two" " 5%"))\n(+ 1\n  (enforce false "end"))')
    const environment = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: tmpdir() }
    const { out } = await run(['test', 'a,b.repl'], environment)
    const root = folder.slice(tmpdir().length + 1)
    expect(out.split('\n').filter((line) => line.startsWith('::'))).toEqual([
      `::error file=${root}/a%2Cb.repl,line=1,col=1,title=100 %25%3A a%2C b::expected "x", got "two 5%25"%0A` +
        'expected:%0A  "x"%0Aactual:%0A  "two 5%25"',
      `::error file=${root}/a%2Cb.repl,line=3,col=3,title=the file runs to its end::end`,
    ])
    expect(out.trimEnd().split('\n').at(-1)).toMatch(/^0 passed, 2 failed/)
    const { out: tap, err } = await run(['test', 'a,b.repl', '--tap', '--github'])
    expect(tap).not.toContain('::error')
    expect(err).toContain('::error file=a%2Cb.repl,line=1')
    expect((await run(['test', 'a,b.repl'])).out).not.toContain('::error')
  })
})

describe('the gas baseline', () => {
  const write = (...files: readonly [name: string, ...tests: string[]][]) => {
    for (const [name, ...tests] of files) writeFileSync(name, tests.map((each) => `(expect "${each}" 1 1)`).join('\n'))
  }
  const names = () => readFileSync('.gas-snapshot', 'utf8').match(/^.*(?= \d+$)/gm)

  it('newcut test --gas-snapshot changes the lines of what ran, and keeps those of other files and names', async () => {
    write(['a.repl', 'one', 'two'], ['b.repl', 'three'])
    await contract('--gas-snapshot')
    expect(names()).toEqual(['a.repl:one', 'a.repl:two', 'b.repl:three'])
    write(['a.repl', 'four', 'two'], ['b.repl', 'five'])
    expect((await contract('a.repl', '--gas-snapshot')).lines.slice(-3, -1)).toEqual([
      'a.repl:one: gone, gas was 0',
      '.gas-snapshot: gas of 2 tests; 1 other line stays',
    ])
    expect(names()).toEqual(['a.repl:four', 'a.repl:two', 'b.repl:three'])
    write(['a.repl', 'six', 'seven'])
    await contract('a.repl', '--gas-snapshot', '--match', 'six')
    expect(names()).toEqual(['a.repl:four', 'a.repl:six', 'a.repl:two', 'b.repl:three'])
    expect((await contract('a.repl', '--check', '--match', 'six')).status).toBe(0)
    expect((await contract('a.repl', '--check')).lines.slice(-5, -1)).toEqual([
      'a.repl:four: gone, gas was 0',
      'a.repl:seven: new, gas 0',
      'a.repl:two: gone, gas was 0',
      '.gas-snapshot: 3 tests differ',
    ])
  })

  it('newcut test --gas-snapshot writes nothing after an early end, and forgets deleted files of a folder', async () => {
    write(['a.repl', 'one'], ['b.repl', 'two'])
    await contract('--gas-snapshot')
    const kept = readFileSync('.gas-snapshot', 'utf8')
    writeFileSync('a.repl', '(expect "other" 1 1)\n(enforce false "ends")')
    expect((await contract('--gas-snapshot')).lines.at(-2)).toBe(
      '.gas-snapshot: not written, because a.repl ended early',
    )
    expect(readFileSync('.gas-snapshot', 'utf8')).toBe(kept)
    const checked = await contract('--check')
    expect(checked.lines).not.toContain('a.repl:one: gone, gas was 0')
    rmSync('a.repl')
    await contract('b.repl', '--gas-snapshot')
    expect(names()).toEqual(['a.repl:one', 'b.repl:two'])
    await contract('--gas-snapshot')
    expect(names()).toEqual(['b.repl:two'])
  })

  it('the tests of a file that several others load keep their numbered lines when one of these runs', async () => {
    write(['shared.repl', 'one'])
    for (const name of ['a.repl', 'b.repl']) writeFileSync(name, '(load "shared.repl")')
    await contract('a.repl', 'b.repl', '--gas-snapshot')
    expect(names()).toEqual(['shared.repl:one', 'shared.repl:one (2)'])
    expect((await contract('a.repl', '--check')).status).toBe(0)
    await contract('a.repl', '--gas-snapshot')
    expect(names()).toEqual(['shared.repl:one', 'shared.repl:one (2)'])
  })
})

describeWith(noTerminal, 'a watch in a terminal', () => {
  afterEach(stopTerminals)

  it('a watch in a terminal runs all files at Enter, those that failed at f, and ends at q', async () => {
    writeFileSync('good.repl', '(expect "good" 1 1)')
    writeFileSync('bad.repl', '(expect "bad" 1 2)')
    const { ended, press, lines } = startInTerminal(['test', folder, '--watch'])
    const runs = () =>
      lines().flatMap((line) => /^\d+ passed, \d+ failed, \d+ skipped, \d+ files?/.exec(line)?.[0] ?? [])
    const waits = () => lines().filter((line) => line.endsWith(': Enter runs all, f those that failed, q quits')).length
    const [all, failed] = ['1 passed, 1 failed, 0 skipped, 2 files', '0 passed, 1 failed, 0 skipped, 1 file']
    const wanted: string[] = []
    for (const [key, line] of [
      ['', all],
      ['f', failed],
      ['x\r', all],
    ] as const) {
      if (key !== '') press(key)
      wanted.push(line)
      await until(() => waits() === wanted.length)
      expect(runs()).toEqual(wanted)
    }
    press('q')
    expect(await ended).toBe(1)
  })
})
