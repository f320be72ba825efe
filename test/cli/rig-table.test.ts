/** `newcut rigs` prints the rig table of a running miner, or an error without one. */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { WorkerRow } from '../../src/mining/accounts/rig-rows.ts'
import { paceSearch } from '../pace.ts'
import { Rig } from '../support/stratum-rig.ts'
import { until } from '../wait.ts'
import { run, SMALL_SEARCH, startHere, stopAll } from './run.ts'

afterEach(stopAll)
paceSearch()

const alone = ['--threads', '0', '--gpu', 'none', '--stratum-listen', '127.0.0.1:0', '--http', '127.0.0.1:0']

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-rigs-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function mining(state: string) {
  const more = ['--difficulty', '1T', '--stratum-difficulty', '100', '--state', state]
  const miner = startHere(['mine', ...alone, ...more])
  const [, port] = await miner.sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
  const [, url] = await miner.sees(/dashboard: (http:\/\/\S+)\//)
  return { ...miner, port: Number(port), url }
}

describe('newcut rigs', () => {
  it('newcut rigs lists workers with their shares, including those of earlier runs', async () => {
    const state = folder()
    const first = await mining(state)
    const rig = await Rig.login(first.port, 'k:abc.shelf-1', 'ours/1')
    await rig.ask('eth_submitHashrate', ['0xf4240'])
    await until(() => rig.jobs.length > 0)
    const job = rig.jobs[0]
    for (let i = 0; i < 3; i++) expect((await rig.submit(job.id, rig.nextShare(job))).result).toBe(true)
    for (let i = 0; i < 50; i++) await rig.submit(job.id, 'x')
    const shown = await run(['rigs', first.url])
    expect(shown).toMatchObject({ code: 0, err: '' })
    const [header, user, row, , total, ...warnings] = shown.out.trimEnd().split('\n')
    expect(header).toMatch(/^worker +now +1h +accepted +refused +last share +state +address$/)
    expect(user).toBe('k:abc')
    expect(row).toMatch(/^shelf-1 +\S.* +- +3 +50 +\d+ s {2}refused {2}127\.0\.0\.1$/)
    const wide = (await run(['rigs', first.url, '--wide'])).out.split('\n')
    expect(wide[0]).toMatch(
      /^user +worker +agent +now +at worker +1m +1h +1d +accepted +refused +refused as +last share +difficulty +state +address$/,
    )
    expect(wide[1]).toMatch(
      /^k:abc +shelf-1 +ours\/1 +\S.* 1\.00 MH\/s +- +- +- +3 +50 +50 malformed +\d+ s +\S+ {2}refused {2}127\.0\.0\.1$/,
    )
    expect(total).toBe('1 worker, 1 connected; 0 H/s over an hour')
    expect(warnings).toEqual([
      'warning: shelf-1 of k:abc: 47 of 50 shares were refused, most as malformed; does its program speak the stratum of these networks?',
    ])
    await first.sees(/warning +47 of the last 50 shares of shelf-1 of k:abc were refused, .*reason is malformed/)
    rig.close()
    await first.stop()
    const second = await mining(state)
    const { rigs, isLogWell } = JSON.parse((await run(['rigs', new URL(second.url).host, '--json'])).out)
    expect(rigs.length).toBe(1)
    expect(isLogWell).toBe(true)
    expect(rigs[0]).toMatchObject({ accepted: 3, refused: { malformed: 50 }, connections: 0, agent: 'ours/1' })
  })

  it('newcut rigs fits in 100 columns, with a heading for each user', async () => {
    const rig = (worker: string, more: Partial<WorkerRow>): WorkerRow =>
      ({
        user: `k:${'ab'.repeat(32)}`,
        worker,
        agent: 'a-program-with-a-long-name/10.20.30',
        address: '192.168.100.100',
        connections: 1,
        accepted: 123_456,
        refused: {},
        lastShareMs: 1000,
        difficulty: 2 ** 50,
        warning: null,
        hashrates: {
          now: 123.4e12,
          announced: 999.9e12,
          '1m': 1e12,
          '5m': 1e12,
          '1h': 123.4e12,
          '1d': 1e12,
          '7d': 1e12,
        },
        ...more,
      }) as WorkerRow
    const rigs = [
      rig('late', {
        refused: { stale: 99_999 },
        warning: { refused: 9, of: 10, reason: 'stale', remedy: 'look' } as never,
      }),
      rig('gone-long-ago-to-another-place', { connections: 0, lastShareMs: null }),
      rig('fast', {}),
      rig('other', { user: 'bob' }),
    ]
    const server = createServer((_request, response) =>
      response.end(JSON.stringify({ rigs, total: 4, nowMs: 2000, isLogWell: true })),
    ).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await until(() => server.listening)
    const { out } = await run(['rigs', `127.0.0.1:${(server.address() as AddressInfo).port}`])
    const lines = out.split('\n').slice(0, 7)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
    const names = lines.slice(1).map((line) => line.split('  ')[0])
    expect(names).toEqual([`k:${'ab'.repeat(32)}`, 'late', 'gone-long-ago-to-an…', 'fast', 'bob', 'other'])
    expect(lines[2]).toMatch(/ 99999 .* refused {2}192/)
    expect(lines[3]).toMatch(/ - {2}gone /)
  })

  it('newcut rigs reports that another miner already keeps its shares there', async () => {
    const state = folder()
    await mining(state)
    const { code, err } = await run(['mine', ...alone, '--state', state])
    expect(code).not.toBe(0)
    expect(err).toMatch(/shares: another miner uses this share log.*--state.*\[DATA_UNUSABLE\]/s)
  })

  it('newcut rigs reports that nobody answers, that rigs are not enabled, and that something else answers', async () => {
    expect((await run(['rigs', '127.0.0.1:1'])).err).toMatch(
      /no miner answers at http:\/\/127\.0\.0\.1:1: .*\[NODE_UNREACHABLE\]/s,
    )
    const other = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await until(() => other.listening)
    const { port } = other.address() as AddressInfo
    expect((await run(['rigs', `127.0.0.1:${port}`])).err).toMatch(
      /did not answer .api.rigs with a table of rigs.*\[NODE_MISBEHAVED\]/s,
    )
    const miner = startHere(['mine', ...SMALL_SEARCH, '--http', '127.0.0.1:0', '--difficulty', '1T'])
    const [, url] = await miner.sees(/dashboard: (http:\/\/\S+)\//)
    expect((await run(['rigs', url])).err).toMatch(
      /this miner lets no rigs in \(.*--stratum-listen HOST:PORT\) \[NODE_REFUSED\]/,
    )
  })

  it.each(['', 'http://', 'a b', 'http://127.0.0.1:1/path'])(
    'newcut rigs refuses the address "%s"',
    async (address) => {
      expect((await run(['rigs', address])).err).toMatch(
        /expected HOST:PORT, the HTTP address of a miner.*\[BAD_OPTION\]/s,
      )
    },
  )
})
