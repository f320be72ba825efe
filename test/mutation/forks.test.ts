/** Planted faults in contracts whose tests run on the state of another network. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { folder, remoteOfFile } from '../copy/network.ts'
import { proxyTo } from '../copy/proxy.ts'

const remote = remoteOfFile()

const CONTRACT = `(module m G (defcap G () true)
  (defun rich (who:string) (> (free.fork-token.balance who) 100.0)))`
const TEST = '(begin-tx) (namespace "free") (load "m.pact")\n(expect "rich" true (free.m.rich "alice"))'

it('faults are planted in tests that call env-fork, or run on a fork, and no verdict is kept', async () => {
  const { devnet } = remote
  const proxy = await proxyTo(devnet.url)
  const home = folder()
  const height = Math.min(...[...devnet.cut.values()].map((head) => Number(head.height)))
  mkdirSync(home, { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(home, name), text)
  write('m.pact', CONTRACT)
  write('plain.repl', TEST)
  write('forks.repl', `(env-fork "${proxy.url}" {"cut": ${height}, "limit": "1000/s", "cache": "off"})\n${TEST}`)
  const cache = join(home, 'verdicts.json')
  const plant = async (...args: string[]) => {
    const report = ['--json', '--mutate', '--mutate-cache', cache, '--mutate-only', join(home, 'm.pact')]
    const { out, err, code } = await run(['test', ...report, ...args])
    expect([code, err]).toEqual([0, ''])
    const { mutants, runs } = JSON.parse(out)
    const statuses = mutants.map((each: { operator: string; status: string }) => `${each.operator} ${each.status}`)
    return { statuses, runs }
  }
  const ends = { statuses: ['boundary survived', 'opposite killed', 'off-by-one survived'], runs: 3 }
  expect(await plant(join(home, 'forks.repl'))).toEqual(ends)
  expect(await plant(join(home, 'forks.repl'))).toEqual(ends)
  const fork = ['--fork', proxy.url, '--fork-cut', String(height), '--fork-cache', 'off']
  expect(await plant(join(home, 'plain.repl'), ...fork)).toEqual(ends)
})

it('a fork that is gone ends planted faults in words, and kills none', async () => {
  const home = folder()
  writeFileSync(join(home, 'plain.repl'), TEST)
  const fork = ['--fork', 'http://127.0.0.1:1', '--fork-cache', 'off', '--fork-cut', '1']
  const { err, code } = await run(['test', '--mutate', join(home, 'plain.repl'), ...fork])
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining('the forked node http://127.0.0.1:1')])
})
