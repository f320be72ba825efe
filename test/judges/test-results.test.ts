/** Results of `newcut test` for other programs, read by such programs: TAP and JUnit. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FinalResults, Parser, type Result } from 'tap-parser'
import { afterAll, expect, it } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { contractIn } from '../contracts/contract-in.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-judged-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Names and values have characters that end something in one of the formats. */
const all = [
  String.raw`(expect "holds #1 \\ <&> # SKIP nothing" 3 (+ 1 2))`,
  `(expect "is wrong: a: b" {"a": [1 2 3 4 5 6 7 8 9 10 11 12], "b": "]]>"} {"a": [1], "b": "two"})`,
  '(expect-failure "ends \u0001" "no" 1)',
]
writeFileSync(join(folder, 'all.repl'), `${all.join('\n')}\n`)
writeFileSync(join(folder, 'ends.repl'), String.raw`(expect "before" 1 1)(enforce false "over\n...\n1..5")`)

it('a TAP parser reads names, reasons and skipped tests', async () => {
  const { lines } = await contractIn(folder, ['all.repl', 'ends.repl', '--tap', '--match', '/^(?!before)/'])
  const results: Result[] = []
  const final = await new Promise<FinalResults>((resolve) => {
    const parser = new Parser({ strict: true }, resolve)
    parser.on('assert', (result: Result) => results.push(result))
    parser.end(`${lines.join('\n')}\n`)
  })
  expect(final).toMatchObject({ ok: false, count: 5, pass: 2, fail: 3, skip: 1, failures: [{}, {}, {}] })
  expect(
    final.failures.flatMap((each) => ('tapError' in each && each.tapError !== null ? [each.tapError] : [])),
  ).toEqual([])
  expect(results.map(({ ok, name, skip }) => [ok, name, skip !== false])).toEqual([
    [true, 'all.repl: holds #1 \\ <&> # SKIP nothing', false],
    [false, 'all.repl: is wrong: a: b', false],
    [false, expect.stringMatching(/^all\.repl: ends /), false],
    [true, 'ends.repl: before', true],
    [false, 'ends.repl: the file runs to its end', false],
  ])
  expect(results[4].diag).toEqual({ message: 'over\n...\n1..5', at: 'ends.repl:1:22' })
})

it('a schema of JUnit accepts the results, with failures, skipped tests, early ends and any characters', async () => {
  await contractIn(folder, ['all.repl', 'ends.repl', '--junit', 'out.xml', '--match', '/^(?!before)/'])
  const schema = readFileSync(join(import.meta.dirname, 'junit.xsd'), 'utf8')
  const judge = (contents: string) =>
    validateXML({ xml: [{ fileName: 'out.xml', contents }], schema: [{ fileName: 'junit.xsd', contents: schema }] })
  const xml = readFileSync(join(folder, 'out.xml'), 'utf8')
  expect((await judge(xml)).errors).toEqual([])
  expect((await judge(xml.replace('<testcase ', '<testcase line="1" '))).valid).toBe(false)
  expect(xml).toContain('<testsuite name="ends.repl" tests="2" failures="1" errors="0" skipped="1" ')
})
