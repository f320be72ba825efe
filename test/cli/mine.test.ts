import { spawnSync } from 'node:child_process'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { lackOf } from '../needs.ts'
import { paceSearch } from '../pace.ts'
import { rotating } from '../rotation.ts'
import { until } from '../wait.ts'
import { type Ended, exitCodeFor, type RunningHere, run, runProcess, start, startHere, stopAll } from './run.ts'

paceSearch()

/** Options for quick tests with `--node`: no HTTP server, no GPU. */
const forNode = ['--http', 'off', '--gpu', 'none', '--threads', '1', '--kernel', 'js']
/** The same for the embedded network, with easy blocks. */
const quick = ['--difficulty', '1k', '--http', 'off', '--gpu', 'none', '--threads', '1', '--kernel', 'js']

const KEY = 'ab'.repeat(32)
/** A node that mines for this key, for tests that only need some node. */
let node: RunningHere
let url: string

beforeAll(async () => {
  node = startHere(['devnet', '--port', '0', '--graph', 'pair', '--difficulty', '1k', '--mining-public-key', KEY])
  url = (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)/))[1]
})
afterAll(stopAll)

/** Options to mine for that node. */
const there = () => ['--node', url, '--public-key', KEY, '--state', 'off', ...forNode]

describe('newcut mine', () => {
  /** The embedded network, mined with the defaults that each kernel and graph may have. */
  let plain: Promise<Ended> | null = null
  const minedPlainly = () => {
    plain ??= run(['mine', '--blocks', '10', '--graph', 'singleton', ...quick])
    return plain
  }

  it('newcut mine mines the embedded network, prints a summary and exits with code 0', async () => {
    const args = ['--difficulty', '1k', '--http', 'off', '--gpu', 'none']
    const { code, out, err } = await runProcess(['mine', '--blocks', '5', ...args])
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(out).toMatch(/^newcut \d+\.\d+\.\d+, no fee/m)
    expect(out).toMatch(/ready {5}cpu: (\d+ x )?[a-z]/)
    expect(out).toMatch(/embedded network: development, 20 chains, block delay 30 s, difficulty 1\.00k at http/)
    expect(out).toMatch(/summary {3}5 accepted( {2}\d+ unconfirmed)?( {2}\d+ stale)?\n/)
    expect(out.match(/accepted {2}chain/g)).toHaveLength(5)
  })

  it('newcut mine starts its network at the hashrate of this machine, unless it needs no proof of work', async () => {
    // In 50 us no thread computes 100,000 hashes, the difficulty of `newcut devnet`. On a busy machine a low-priority
    // thread may not run at all during the trial.
    const search = ['--threads', '1', '--kernel', 'js', '--priority', 'normal', '--gpu', 'none']
    const args = ['mine', '--blocks', '1', '--graph', 'singleton', ...search, '--http', 'off', '--block-delay', '1ms']
    const difficultyIn = ({ out }: { out: string }) => / difficulty (\S+) at http/.exec(out)?.[1]
    const measured = difficultyIn(await run(args))
    expect(measured).toMatch(/^(\d\d?|\d\d0|\d\.\d0k|\d\d\.0k)$/)
    expect(difficultyIn(await run([...args, '--no-pow']))).toBeUndefined()
  })

  it('newcut mine mines a singleton network with only the js kernel', async () => {
    const { code, out } = await minedPlainly()
    expect(out).toContain('10 accepted')
    expect(code).toBe(0)
  })

  it('newcut mine prints that it pays the built-in key if no other is given', async () => {
    expect((await minedPlainly()).out).toMatch(/^paid: k:[0-9a-f]{64}, the built-in key of development networks/m)
  })

  it('newcut mine writes no colour codes without a terminal', async () => {
    expect((await minedPlainly()).out.includes('\u001b')).toBe(false)
  })

  const others = [
    ['triangle', 'js'],
    ['petersen', 'js'],
  ] as const
  it.each([['pair', 'wasm'] as const, ...rotating(others, 1)])(
    'newcut mine mines a %s network with only the %s kernel',
    async (graph, kernel) => {
      const args = ['--difficulty', '1k', '--http', 'off', '--gpu', 'none', '--threads', '1', '--kernel', kernel]
      const { code, out } = await run(['mine', '--blocks', '10', '--graph', graph, ...args])
      expect(out).toContain('10 accepted')
      expect(code).toBe(0)
    },
  )

  it('newcut mine --dry-run prints what would be mined without mining, or what is wrong', async () => {
    const tried = await run(['mine', '--dry-run', ...quick])
    expect(tried).toMatchObject({ code: 0, err: '' })
    expect(tried.out).toMatch(/network: an embedded one\nsearch: CPU .*\nall checks passed/)
    const devnet = startHere(['devnet', '--port', '0'])
    const [, url] = await devnet.sees(/newcut mine --node (http:\S+)/)
    const network = await run(['mine', '--dry-run', '--node', url, '--state', 'off', '--gpu', 'none'])
    expect(network).toMatchObject({ code: 0, err: '' })
    expect(network.out).toMatch(/work: chain \d+ height 1, 286 bytes\nvotes: for fork 1, as the node votes\n/)
    await devnet.stop()
    const gone = await run(['mine', '--dry-run', '--node', url, '--state', 'off', '--gpu', 'none'])
    expect(gone).toMatchObject({ code: 20, out: '' })
    expect(gone.err).toMatch(/\[NODE_UNREACHABLE\]/)
  })

  it('newcut mine mines only the chains that it is given', async () => {
    const { code, out } = await run(['mine', '--chains', '3,8', '--blocks', '2', ...quick])
    expect(code).toBe(0)
    const chains = new Set([...out.matchAll(/(?:work|accepted) +chain (\d+)/g)].map(([, chain]) => chain))
    expect([...chains].sort()).toEqual(['3', '8'])
  })

  it('newcut mine mines for newcut devnet, which prints the blocks', async () => {
    const { code, out, err } = await run(['mine', '--blocks', '5', ...there()])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('5 accepted')
    await node.sees(/block {5}chain/)
  })

  it('newcut mine mines for several nodes: two addresses of one', async () => {
    const other = url.replace('127.0.0.1', 'localhost')
    const { code, out, err } = await run(['mine', '--blocks', '2', ...there(), '--node', other])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(`nodes, in order of priority: ${url}, ${other}`)
    expect(out).toContain('2 accepted')
  })

  it('newcut mine stops after a duration', async () => {
    const { code, out } = await run(['mine', '--duration', '500ms', '--difficulty', '1T', ...forNode])
    expect(out).toContain('0 accepted')
    expect(code).toBe(0)
  })

  it.each(rotating(['SIGINT', 'SIGTERM', 'SIGHUP'] as const, 1))(
    'newcut mine stops on %s, with the summary',
    async (signal) => {
      const miner = start(['mine', ...there()])
      await miner.sees(/accepted/)
      miner.child.kill(signal)
      const { code, out, err } = await miner.ended
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toContain('summary')
    },
  )

  it('newcut mine stops on SIGTERM while its engines start', async () => {
    const miner = start(['mine', '--difficulty', '1T', '--http', 'off', '--threads', '1'])
    await miner.sees(/embedded network/)
    miner.child.kill('SIGTERM')
    expect(await miner.ended).toMatchObject({ code: 0, err: '' })
  })

  it('newcut mine stops on SIGHUP while its node does not answer', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const asked = new Promise((resolve) => silent.once('connection', resolve))
    const miner = start(['mine', '--node', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`])
    await asked
    miner.child.kill('SIGHUP')
    expect(await miner.ended).toMatchObject({ code: 0, err: '' })
    silent.close()
  })

  it('newcut mine prints the account that it pays', async () => {
    const { out } = await run(['mine', '--blocks', '1', '--graph', 'singleton', '--account', `k:${KEY}`, ...quick])
    expect(out).toMatch(new RegExp(`^paid: k:${KEY} \\(keys-all\\)$`, 'm'))
  })

  it('newcut mine mines for the key in --account k:KEY', async () => {
    const address = url.slice('http://'.length)
    const args = ['--node', address, '--account', `k:${KEY}`, '--state', 'off', ...forNode]
    const { out } = await run(['mine', '--blocks', '2', ...args])
    expect(out).toContain('2 accepted')
  })

  it('newcut mine writes JSON records', async () => {
    const { code, out } = await run(['mine', '--blocks', '3', '--log', 'json', ...quick])
    const records = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(code).toBe(0)
    const solutions = records.filter(({ event }) => event === 'solution')
    const [{ job, issuer, hash }] = solutions
    const life = solutions.filter((record) => record.hash === hash)
    expect(life.map(({ step, verdict }) => [step, verdict])).toEqual([
      ['found', null],
      ['handed-in', null],
      ['acknowledged', null],
      ['confirmed', 'accepted'],
    ])
    for (const record of life) expect(record).toMatchObject({ job, issuer })
    expect(solutions.filter(({ verdict }) => verdict === 'accepted')).toHaveLength(3)
    expect(records[records.length - 1]).toMatchObject({ event: 'summary', snapshot: { solutions: { accepted: 3 } } })
    for (const { time, level } of records) expect({ time, level }).toEqual({ time: expect.any(String), level: 'info' })
  })
})

describe('newcut mine ends with one line of error and its exit code', () => {
  const oneLine = (err: string) => err.trim().split('\n').length === 1 && !err.includes('    at ')

  it('newcut mine ends with one line of error and a hint when the node is unreachable', async () => {
    const { code, err } = await run(['mine', '--node', 'http://127.0.0.1:1', '--fail-fast'])
    expect(err).toMatch(/^newcut: http:\/\/127\.0\.0\.1:1: .* \(.*\) \[NODE_UNREACHABLE\]$/m)
    expect(oneLine(err)).toBe(true)
    expect(code).toBe(20)
  })

  it('newcut mine ends with one line of error when the node does not mine for the account', async () => {
    const { code, err } = await run(['mine', '--node', url, ...forNode])
    expect(err).toMatch(/Unauthorized Miner: k:.*\[NODE_REFUSED\]/)
    expect(oneLine(err)).toBe(true)
    expect(code).toBe(21)
  })

  it.each([
    [['mine', '--thread', '2'], /--thread: no such option; did you mean --threads\?/],
    [['mine', '--threads', 'abc'], /--threads abc: expected a whole number from 0 to 1024/],
    [['mine', '--block-delay', '30'], /--block-delay 30: expected a time such as/],
    [['mine', '--graph', 'square'], /--graph square: expected one of singleton/],
    [['mine', '--node', 'localhost'], /--node localhost: expected the address of a node/],
    [['mine', '--stall', '1ms'], /--stall 1ms: expected a time of at least 1 s such as 30s or 5m, or 0 for none/],
    [['mine', '--fingerprint', 'xyz'], /--fingerprint xyz: expected a SHA-256/],
    [['mine', '--http', '4148'], /--http 4148: expected HOST:PORT/],
    [
      ['mine', '--public-key', 'k:12'],
      /--public-key k:12: looks like a k: account, .*; expected public keys of 64 hex digits/,
    ],
    [['mine', 'now'], /mine takes no argument, not 1/],
    [['mien'], /mien: no such command; did you mean mine\?/],
  ])('newcut mine ends with one line of error and its exit code for %j', async (args, pattern) => {
    const ended = await run(args)
    expect(ended.err).toMatch(pattern)
    expect(oneLine(ended.err)).toBe(true)
    expect(ended).toMatchObject({ code: exitCodeFor(ended), out: '' })
    expect(ended.code).toBe(2)
  })
})

it('newcut mine --help prints the options and exits with code 0', async () => {
  const { code, out, err } = await run(['mine', '--help'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain('--block-delay <TIME>')
})

describe('the HTTP server of newcut mine', () => {
  it('the HTTP server of newcut mine serves metrics that promtool accepts, a summary and health', async (context) => {
    const miner = startHere(['mine', '--http', '127.0.0.1:0', '--difficulty', '20k', ...quick.slice(4)])
    const [, url] = await miner.sees(/metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics/)
    await miner.sees(/accepted/)
    // The work line appears once every thread searches the work, which may be after a solution.
    await miner.sees(/ work /)
    const summary = (await (await fetch(`${url}/api/summary`)).json()) as Snapshot
    expect(summary).toMatchObject({ connected: expect.any(Boolean), hashrates: { '15m': null } })
    expect(summary.solutions.accepted).toBeGreaterThan(0)
    expect(summary.devices[0]).toMatchObject({ engine: 'cpu', device: 'thread0' })
    // Between two blocks work may be missing for a moment.
    const health = async () => {
      const answer = await fetch(`${url}/healthz`)
      return [answer.status, ((await answer.json()) as { status: string }).status]
    }
    await expect.poll(health).toEqual([200, 'mining'])
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
    let metrics = ''
    await until(async () => {
      metrics = await (await fetch(`${url}/metrics`)).text()
      return /^newcut_work_age_seconds \d/m.test(metrics)
    })
    expect(metrics).toMatch(/^newcut_hashes_total\{engine="cpu",device="thread0"\} \d+$/m)
    expect(metrics).toMatch(/^newcut_solutions_total\{verdict="accepted"\} [1-9]/m)
    expect(metrics).toMatch(/^newcut_difficulty_hashes\{chain="\d+"\} 20000$/m)
    for (const name of ['work_preemptions_total', 'preempt_duration_seconds_bucket', 'submit_duration_seconds_count']) {
      expect(metrics).toContain(`newcut_${name}`)
    }
    expect(metrics).toMatch(/^newcut_update_stream_connected [01]$/m)
    await miner.stop()
    const lack = lackOf('promtool')
    if (lack !== null) return context.skip(lack)
    const promtool = spawnSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' })
    expect(promtool.stdout + promtool.stderr).toBe('')
    expect(promtool.status).toBe(0)
  })
})

describe('newcut mine where port 4148 is taken', () => {
  const server = createServer()
  afterAll(() => void server.close())

  /** Runs newcut while this test, or another program, holds the port for the whole run. */
  async function runBeside(...args: readonly string[]): Promise<Ended> {
    const isOurs = server.listening || (await listens(server, 4148))
    const ended = await run(['mine', '--blocks', '1', '--difficulty', '1k', ...quick.slice(4), ...args])
    return isOurs || /(127\.0\.0\.1:|port )4148/.test(ended.err + ended.out.match(/warning.*/))
      ? ended
      : runBeside(...args)
  }

  it('newcut mine says the port of its dashboard if the default port is taken', async () => {
    const { code, out } = await runBeside()
    expect(out).toMatch(/warning .*port 4148 is taken: the dashboard is at http:\/\/127\.0\.0\.1:41\d\d\//)
    expect(code).toBe(0)
  })

  it('newcut mine ends with an error if the port of --http is taken', async () => {
    const { code, err } = await runBeside('--http', '127.0.0.1:4148')
    expect(err).toMatch(/127\.0\.0\.1:4148.*\[PORT_BUSY\]/)
    expect(code).toBe(24)
  })
})

/** Whether the server got the port. */
function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => resolve(true))
  })
}
