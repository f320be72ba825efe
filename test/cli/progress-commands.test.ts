/** Commands that take long have a progress line on a terminal, and none elsewhere. Their clock is fast. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newcut } from '../../src/commands/command-line.ts'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { silentContext } from './silent-context.ts'

let devnet: Devnet
const folder = mkdtempSync(join(tmpdir(), 'newcut-progress-'))
beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'singleton', pow: false })
  await fetch(`${devnet.url}/make-blocks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"0":3}',
  })
})
afterAll(async () => {
  await devnet.close()
  rmSync(folder, { recursive: true })
})

/** Runs a command whose stderr is a terminal, or not. Two seconds pass between two looks at the clock. */
async function runWith(isTTY: boolean, ...args: readonly string[]): Promise<string> {
  let [written, now] = ['', 0]
  const err = { isTTY, columns: 80, write: (text: string) => (written += text) }
  await newcut(args, { ...silentContext, environment: { NO_COLOR: '1' }, err, nowMs: () => (now += 2000) })
  return written
}

it.each([
  [
    'conformance',
    () => ['--node', devnet.url, '--only', 'info'],
    /judging the node {2}\[=*>? *\] {2}\d+ % {2}\d+ of \d+/,
  ],
  ['fork', () => [devnet.url, '--fork-cache', 'off'], /copying from http:\S+ {2}\d+ requests/],
  ['fork', () => [devnet.url, '--verify', '--cases', '2', '--fork-cache', 'off'], /comparing {2}\[/],
  ['test', () => [folder], /running tests {2}\[=* *>? *\] {2}50 % {2}1 of 2/],
] as const)('newcut %s shows its progress on a terminal alone', async (name, argsOf, progress) => {
  for (const file of ['a', 'b']) writeFileSync(join(folder, `${file}.repl`), '(expect "sum" 2 (+ 1 1))\n')
  const drawn = await runWith(true, name, ...argsOf())
  expect(drawn).toMatch(progress)
  // The line is cleared at the end.
  expect(drawn.lastIndexOf('\u001B[2K')).toBeGreaterThan(drawn.search(progress))
  const plain = await runWith(false, name, ...argsOf())
  expect(plain).not.toContain('\u001B')
  expect(plain).not.toMatch(/copying|judging|comparing|running/)
})
