import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { encodeHex, u256LE } from '../../src/ground/base/bytes.ts'
import { withCreationTime, withNonce } from '../../src/ground/chain/header.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import type { Candidate } from '../../src/mining/engine/engine.ts'
import { ExternalEngine } from '../../src/mining/engine/external.ts'
import { run, startHere, stopAll } from '../cli/run.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { engineWork, freshWork, UNREACHABLE } from '../support/work.ts'
import { until } from '../wait.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-external-'))
const engines: ExternalEngine[] = []
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop()
  await stopAll()
})
afterAll(() => rmSync(folder, { recursive: true }))

/**
 * A worker written in JavaScript. Its code can use `input`, the text that it reads, and `target`, its last argument.
 */
function worker(name: string, code: string): string {
  const file = join(folder, `${name}.mjs`)
  const head = `import { readFileSync, writeFileSync, appendFileSync } from 'node:fs'
    const input = readFileSync(0); const target = process.argv.at(-1); const folder = ${JSON.stringify(folder)};`
  writeFileSync(file, head + code)
  return `${process.execPath} ${file}`
}

async function started(command: string) {
  const clock = new VirtualClock()
  const engine = new ExternalEngine({ command, clock })
  engines.push(engine)
  const candidates: Candidate[] = []
  const warnings: string[] = []
  await engine.start(286, {
    onCandidate: (candidate) => candidates.push(candidate),
    onWarning: (message) => warnings.push(message),
  })
  return { engine, clock, candidates, warnings }
}

describe('an external worker', () => {
  it('an external worker gets the work and the target, and reports its nonce and hash count', async () => {
    const command = worker(
      'echo',
      `writeFileSync(folder + '/seen', input.toString('hex') + ' ' + target)
      process.stdout.write('00000000deadbeef 1000 2000')`,
    )
    const { engine, candidates } = await started(`${command} --extra`)
    const work = freshWork(UNREACHABLE)
    await engine.setWork(engineWork(3, work, 5n))
    await until(() => candidates.length > 0)
    expect(candidates).toEqual([{ sequence: 3, nonce: 0xdeadbeefn, device: 'command' }])
    expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe(`${encodeHex(work)} ${encodeHex(u256LE(5n))}`)
    expect(engine.devices()).toMatchObject([{ hashes: 1000, faults: 0 }])
  })

  it.each([
    ['newcut solve --threads 2', 'newcut'],
    ['/opt/a-b/solve.sh --token hunter2', '/opt/a-b/solve.sh'],
    ['C:\\bin\\solve.exe', 'C:\\bin\\solve.exe'],
    ['TOKEN=hunter2 solve', 'shell command'],
    ['"/opt/a b/solve" x', 'shell command'],
    ['cd hunter2; ./solve', 'cd'],
  ])('the command %j is displayed as %j', (command, kernel) => {
    expect(new ExternalEngine({ command, clock: systemClock }).devices()).toMatchObject([{ kernel }])
  })

  it.each(['00000000deadbeef', '00000000DEADBEEF 7 1.25e+08', '00000000deadbeef found by device 0'])(
    'an external worker may print more text after the nonce: %s',
    async (answer) => {
      const { engine, candidates, warnings } = await started(worker('more', `process.stdout.write('${answer}')`))
      await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 5n))
      await until(() => candidates.length > 0)
      expect(candidates[0].nonce).toBe(0xdeadbeefn)
      expect(warnings).toEqual([])
    },
  )

  it('an external worker is killed with all its child processes when new work comes', async () => {
    const command = worker('hang', `appendFileSync(folder + '/pids', process.pid + '\\n'); setInterval(() => 0, 1000)`)
    const { engine } = await started(`true && ${command}`)
    const pids = () => {
      try {
        return (readFileSync(join(folder, 'pids'), 'utf8').match(/\d+\n/g) ?? []).map(Number)
      } catch {
        return []
      }
    }
    const isAlive = (pid: number) => {
      try {
        // A dead process stays a zombie if no parent reaps it, as in containers without an init.
        const isThere = process.kill(pid, 0)
        if (process.platform !== 'linux') return isThere
        return isThere && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
      } catch {
        return false
      }
    }
    const work = freshWork(UNREACHABLE)
    await engine.setWork(engineWork(1, work, 5n))
    await until(() => pids().length === 1)
    // The same job with a later creation time is the same search.
    await engine.setWork({ ...engineWork(1, withCreationTime(work, 99n), 5n), sequence: 2 })
    expect(isAlive(pids()[0])).toBe(true)
    await engine.setWork(engineWork(3, freshWork(UNREACHABLE), 5n))
    await until(() => pids().length === 2)
    await until(() => !isAlive(pids()[0]))
    await engine.stop()
    await until(() => !isAlive(pids()[1]))
  })

  it.each([
    ['exits with an error', `console.error('no device'); process.exit(3)`, /ended with exit code 3: no device/],
    ['prints no nonce', `console.log('found: 12')`, /printed "found: 12\\n", expected a nonce of 16 hex digits/],
    ['prints nothing', '', /printed ""/],
  ])(
    'an external worker that %s causes a warning and is retried with exponential backoff',
    async (_what, code, pattern) => {
      const { engine, clock, candidates, warnings } = await started(worker('fails', code))
      await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 5n))
      for (const [i, pauseMs] of [500, 1000, 2000].entries()) {
        await until(() => warnings.length === i + 1)
        await clock.pass(pauseMs - 1)
        expect(engine.devices()).toMatchObject([{ state: 'restarting', hashes: 0, faults: i + 1 }])
        await clock.pass(1)
      }
      await until(() => warnings.length === 4)
      expect(warnings[0]).toMatch(pattern)
      expect(candidates).toEqual([])
    },
  )

  it('an external worker that failed is not retried sooner for new work', async () => {
    const { engine, clock, warnings } = await started('false')
    await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 5n))
    await until(() => warnings.length === 1)
    await engine.setWork(engineWork(2, freshWork(UNREACHABLE), 5n))
    await clock.pass(499)
    expect(engine.devices()).toMatchObject([{ state: 'restarting', faults: 1 }])
    await clock.pass(1)
    await until(() => warnings.length === 2)
  })

  it('an external worker that failed stays in the state restarting until it has run for five seconds', async () => {
    const mark = join(folder, 'failed-once')
    const once = `if (fs.existsSync('${mark}')) setInterval(() => 0, 1000)
      else { fs.writeFileSync('${mark}', ''); console.error('no device'); process.exit(3) }`
    const { engine, clock, warnings } = await started(worker('fails', `const fs = await import('node:fs'); ${once}`))
    await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 5n))
    await until(() => warnings.length > 0)
    const reason = 'the external command ended with exit code 3: no device'
    expect(engine.devices()).toMatchObject([{ state: 'restarting', reason }])
    await clock.pass(5499)
    expect(engine.devices()).toMatchObject([{ state: 'restarting', reason }])
    await clock.pass(1)
    expect(engine.devices()[0]).not.toHaveProperty('state')
    // A pause ends the program, not its proof.
    await engine.setWork({ ...engineWork(2, freshWork(UNREACHABLE), 5n), bytes: null })
    expect(engine.devices()[0]).not.toHaveProperty('state')
    expect(warnings).toHaveLength(1)
  })

  it('an external worker that never succeeds makes newcut mine exit with code 22', async () => {
    const args = ['mine', '--engine', 'external', '--command', 'false', '--duration', '1s', '--http', 'off']
    expect((await run(args)).code).toBe(22)
  })

  it('an external worker that does not exist causes a warning', async () => {
    const { engine, warnings } = await started('/no/such/program')
    await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 5n))
    await until(() => warnings.length > 0)
    expect(warnings[0]).toMatch(/ended with exit code 127/)
  })
})

describe('newcut solve', () => {
  const easy = MAX_TARGET / 100_000n

  it('newcut solve prints a solving nonce, the hash count and the hashrate', async () => {
    const work = freshWork(UNREACHABLE)
    const { code, out, err } = await run(['solve', encodeHex(u256LE(easy))], {}, work)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const [, nonce, hashes, rate] = /^([0-9a-f]{16}) (\d+) (\d+)\n$/.exec(out) ?? []
    expect(meets(powHash(withNonce(work, BigInt(`0x${nonce}`))), easy)).toBe(true)
    expect(Number(hashes)).toBeGreaterThan(0)
    expect(Number(rate)).toBeGreaterThan(0)
  })

  it('newcut solve accepts any bytes of the length of work, as other miners do', async () => {
    const work = new Uint8Array(286)
    const { code, out } = await run(['solve', encodeHex(u256LE(easy))], {}, work)
    expect(code).toBe(0)
    expect(meets(powHash(withNonce(work, BigInt(`0x${out.slice(0, 16)}`))), easy)).toBe(true)
  })

  it('newcut solve works as the external worker of newcut mine', async () => {
    const main = new URL('../../dist/src/main.js', import.meta.url).pathname
    const command = `${process.execPath} ${main} solve --threads 1 --priority normal`
    const args = ['mine', '--engine', 'external', '--command', command, '--blocks', '2', '--difficulty', '10k']
    const { code, out } = await run([...args, '--http', 'off'])
    expect(out).toContain('2 accepted')
    expect(code).toBe(0)
  })

  it('newcut mine checks the nonces of newcut solve: a wrong one is a hardware error and is not submitted', async () => {
    const wrong = worker('wrong', `process.stdout.write('0000000000000001')`)
    const args = ['mine', '--engine', 'external', '--command', wrong, '--difficulty', '1G', '--http', 'off']
    const miner = startHere(args)
    await miner.sees(/hardware .*command claimed nonce 0000000000000001/)
    const { out } = await miner.stop()
    expect(out).toMatch(/summary {3}0 accepted\n/)
  })

  it.each([
    [['solve'], 'x', /solve needs an argument: TARGET/],
    [['solve', 'ff'], 'x', /target ff: expected 64 hex digits, little-endian/],
    [['solve', 'ff'.repeat(32)], 'x', /standard input: 1 bytes, which no work has.*\[BAD_INPUT\]/],
    [['mine', '--engine', 'external', '--http', 'off'], '', /--engine external needs --command/],
  ])('the arguments %j are refused in one line', async (args, input, pattern) => {
    const { code, err } = await run(args, {}, input)
    expect(err).toMatch(pattern)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(err.includes('BAD_INPUT') ? 1 : 2)
  })
})
