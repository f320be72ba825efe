/** `newcut test --gas` as a user runs it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { run } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-gas-'))
const file = join(folder, 'sums.repl')
writeFileSync(file, '(+ 1 2)\n(expect "a list" 2\n  (length [1 2]))\n')
afterAll(() => rmSync(folder, { recursive: true }))

it('newcut test --gas shows the gas of each form and the total', async () => {
  const { code, out } = await run(['test', '--gas', file])
  expect(code).toBe(0)
  const [, sum, length, total, ...rest] = out.trimEnd().split('\n')
  expect(sum).toMatch(/^ +0\.130 {2}\S*sums\.repl:1:1: \(\+ 1 2\)$/)
  expect(length).toMatch(/^ +0\.300 {2}\S*sums\.repl:2:1: \(expect "a list" 2$/)
  expect(total).toMatch(/^ +0\.430 {2}gas in total$/)
  expect(rest.at(-1)).toMatch(/^1 passed, 0 failed, 0 skipped, 1 file, \d/)
})

it('newcut test --json has milligas with --gas, and no gas without it', async () => {
  const { out } = await run(['test', '--gas', '--json', file])
  expect(JSON.parse(out).gas).toMatchObject([{ milligas: 130, text: '(+ 1 2)' }, { milligas: 300 }])
  expect(JSON.parse((await run(['test', '--json', file])).out)).not.toHaveProperty('gas')
})
