/** Changing the configuration of a running miner by its file and by /2/config, with real files and real HTTP. */
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { until } from '../wait.ts'
import { type RunningHere, startHere, stopAll } from './run.ts'

const TOKEN = 'correct-horse-battery'
const HARD = ['--difficulty', '1T', '--gpu', 'none', '--graph', 'petersen', '--http', '127.0.0.1:0']

afterEach(stopAll)

interface Mining extends RunningHere {
  readonly url: string
  readonly file: string
  readonly summary: () => Promise<Snapshot>
  readonly threads: () => Promise<string[]>
  readonly get: () => Promise<Record<string, unknown>>
  readonly put: (body: unknown, headers?: Record<string, string>) => Promise<readonly [number, unknown]>
}

function newFile(text: string, name = 'newcut.yaml'): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-live-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

/** A running miner; `text` is the content of its configuration file. */
async function startMiner(args: readonly string[], text: string | null, name?: string): Promise<Mining> {
  const file = text === null ? '' : newFile(text, name)
  const miner = startHere(['mine', ...args, ...(text === null ? [] : ['--config', file])])
  const [, url] = await miner.sees(/metrics\W+(http:\/\/127\.0\.0\.1:\d+)/)
  await miner.sees(/ready/)
  const summary = async () => (await (await fetch(`${url}/api/summary`)).json()) as Snapshot
  const bearer = { authorization: `Bearer ${TOKEN}` }
  return {
    ...miner,
    url,
    file,
    summary,
    threads: async () => (await summary()).devices.map(({ device }) => device),
    get: async () => (await (await fetch(`${url}/2/config`)).json()) as Record<string, unknown>,
    put: async (body, headers = bearer) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const answer = await fetch(`${url}/2/config`, { method: 'PUT', headers, body: text })
      const received = await answer.text()
      return [answer.status, received === '' ? null : JSON.parse(received)]
    },
  }
}

/** Saves a file as editors do: a new file replaces the old one. */
function save(file: string, text: string): void {
  writeFileSync(`${file}~`, text)
  renameSync(`${file}~`, file)
}

const changes = ({ out }: RunningHere) => out().match(/(?<= )configuration: .*/g) ?? []

describe('the configuration file of a running miner', () => {
  it('a running miner changes threads and kernel at once when its file is saved, and all counts continue', async () => {
    const miner = await startMiner(HARD, 'threads: 2\n')
    await expect.poll(async () => (await miner.summary()).hashes).toBeGreaterThan(0)
    const samples: Snapshot[] = []
    let isOver = false
    const watched = (async () => {
      while (!isOver) samples.push(await miner.summary())
    })()
    await until(() => samples.length > 0)
    save(miner.file, 'threads: 1\n')
    await miner.sees(/configuration: threads 2 -> 1\n/)
    expect(await miner.threads()).toEqual(['thread0'])
    writeFileSync(miner.file, 'threads: 3\nkernel: js\n')
    await miner.sees(/configuration: threads 1 -> 3\n.*configuration: kernel auto -> js\n/s)
    isOver = true
    await watched
    const { devices, hardware, hashes, solutions } = await miner.summary()
    expect(devices.map(({ device, kernel }) => [device, kernel])).toEqual([
      ['thread0', 'js'],
      ['thread1', 'js'],
      ['thread2', 'js'],
    ])
    expect(solutions).toMatchObject({ rejected: 0, lost: 0 })
    // thread1 was removed and added again; its earlier hashes still count.
    expect(devices[1].hashes).toBeGreaterThan(samples[0].devices[1].hashes)
    expect(hardware[0].hashes).toBeLessThanOrEqual(hashes)
    for (const [i, { hashes: all, devices: each, hardware: parts }] of samples.entries()) {
      const before = samples[i - 1]
      if (before === undefined) continue
      expect(all).toBeGreaterThanOrEqual(before.hashes)
      expect(parts[0].hashes).toBeGreaterThanOrEqual(before.hardware[0].hashes)
      expect(each[0].hashes).toBeGreaterThanOrEqual(before.devices[0].hashes)
    }
  })

  it('a running miner changes nothing if its file is invalid, and reports the error and its place', async () => {
    const miner = await startMiner(HARD, 'threads: 1\n')
    const before = await miner.get()
    for (const [text, pattern] of [
      [
        'tread: 2\n',
        /newcut\.yaml, tread: no such option; did you mean threads\? \(newcut config prints .*\); nothing is changed\n/,
      ],
      ['threads: many\n', /newcut\.yaml, threads: "many": expected a whole number from 0 to 1024; nothing is changed/],
      ['threads: 2\nchains: 77\n', /--chains: development at \S+ has no chain 77 \(its chains are 0 to 9\); nothing/],
      ['threads: 0\n', /--threads 0: nothing would search \(give --threads at least 1\); nothing is changed\n/],
      [
        'threads: [2\n',
        /configuration file \S+newcut\.yaml is not valid YAML: .* at line \d+, column \d+ \(.*\); nothing is changed\n/,
      ],
      ['threads: 2\naccount: k:ab\n', /warning .*k:ab.*; nothing is changed\n/],
    ] as const) {
      save(miner.file, text)
      await miner.sees(pattern)
    }
    rmSync(miner.file)
    await miner.sees(/it does not exist \(ENOENT\) \(--config FILE names another file\); nothing is changed/)
    expect(await miner.threads()).toEqual(['thread0'])
    expect(await miner.get()).toEqual(before)
    save(miner.file, 'threads: 2\n')
    await miner.sees(/configuration: threads 1 -> 2\n/)
    expect(changes(miner).filter((line) => line.includes('->'))).toHaveLength(1)
  })

  it('a running miner changes the stated power when its file is saved', async () => {
    const miner = await startMiner(HARD, 'threads: 1\nwatts: 85\n')
    save(miner.file, 'threads: 1\nwatts: 60.5\n')
    await miner.sees(/watts 85 -> 60.5\n/)
    save(miner.file, 'threads: 1\nwatts-base: 20\n')
    await miner.sees(/watts 60.5 -> not set\n/)
    await miner.sees(/watts-base 0 -> 20\n/)
    save(miner.file, 'threads: 1\nwatts: -1\n')
    await miner.sees(/watts.* is below 0; expected a number of watts of at least 0/)
  })

  it('a running miner prefers the command line to its file, and says so; other options wait for the next start', async () => {
    const miner = await startMiner([...HARD, '--threads', '1'], 'kernel: auto\n')
    save(miner.file, 'threads: 2\nconfirmations: 3\nhttp-token: correct-horse-battery\n')
    await miner.sees(/configuration: threads 2 in the file has no effect: --threads on the command line wins\n/)
    await miner.sees(/configuration: confirmations 6 -> 3, effective at the next start\n/)
    await miner.sees(/configuration: http-token changed\n/)
    expect(miner.out()).not.toContain(TOKEN)
    expect(await miner.threads()).toEqual(['thread0'])
    expect(await miner.get()).toMatchObject({ threads: 1, confirmations: 6 })
    // The token takes effect at once.
    expect((await miner.put({ kernel: 'wasm' }))[0]).toBe(204)
  })

  it('a running miner pauses by a new schedule, and resumes when it is removed', async () => {
    const miner = await startMiner([...HARD, '--threads', '1'], 'kernel: auto\n')
    const hour = (after: number) => String((new Date().getHours() + after) % 24).padStart(2, '0')
    save(miner.file, `schedule: ${hour(5)}:00-${hour(6)}:00\n`)
    await miner.sees(/paused +until \d\d:00 by the schedule\n/)
    await expect.poll(async () => (await miner.summary()).paused).toBe(true)
    save(miner.file, 'kernel: auto\n')
    await miner.sees(/configuration: schedule .* -> not set\n/)
    await expect.poll(async () => (await miner.summary()).paused).toBe(false)
  })

  it('a running miner changes its chains and the format of the console when its file is saved', async () => {
    const miner = await startMiner(['--difficulty', '2M', ...HARD.slice(2), '--threads', '1'], 'chains: 0-4\n')
    await miner.sees(/accepted/)
    save(miner.file, 'chains: [6, 8]\nlog: json\n')
    await miner.sees(/"event":"configuration","option":"log","before":"text","now":"json","effect":"now"/)
    const chains = () => [...miner.out().matchAll(/"event":"work".*?"chain":(\d+)/g)].map(([, chain]) => chain)
    // The miner waits until nobody else mines a chain that it wants, at once or after a block or two.
    await miner.sees(/"event":"idle"/)
    expect(chains().filter((chain) => chain !== '6' && chain !== '8')).toEqual([])
    expect((await miner.summary()).chains?.filter(({ isWanted }) => isWanted).map(({ chain }) => chain)).toEqual([6, 8])
    save(miner.file, 'log: json\n')
    await miner.sees(/"option":"chains","before":\[6,8\],"now":null,"effect":"now"/)
    await expect.poll(() => new Set(chains()).size).toBeGreaterThan(5)
  })

  it('a running miner loses no solution, however often the threads change', async () => {
    const miner = await startMiner(
      ['--difficulty', '500k', ...HARD.slice(2), '--log', 'json'],
      `threads: 1\nhttp-token: ${TOKEN}\n`,
    )
    await miner.sees(/"verdict":"accepted"/)
    for (const threads of [2, 1, 3, 2]) expect((await miner.put({ threads }))[0]).toBe(204)
    const found = (await miner.summary()).results.found
    await expect.poll(async () => (await miner.summary()).results.found).toBeGreaterThan(found + 5)
    const { code, out } = await miner.stop()
    expect(code).toBe(0)
    const records = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const solutions = records.filter(({ event }) => event === 'solution')
    const begun = solutions.filter(({ step }) => step === 'found').map(({ hash }) => hash)
    const decided = new Set(solutions.filter(({ verdict }) => verdict !== null).map(({ hash }) => hash))
    expect(begun.length).toBeGreaterThan(10)
    expect(begun.filter((hash) => !decided.has(hash))).toEqual([])
    expect(records.filter(({ event }) => event === 'hardwareError')).toEqual([])
    const { snapshot } = records.at(-1)
    expect(snapshot.solutions).toMatchObject({ rejected: 0, lost: 0 })
    expect(records.filter(({ event }) => event === 'warning')).toEqual([])
  })
})

describe('/2/config', () => {
  it('/2/config applies the change and writes the file, keeping its comments and permissions', async () => {
    const text = `# secret key: never lose it\nthreads: 1 # few\nhttp-token: ${TOKEN}\nnodes-of-devnet: 1\n`
    const miner = await startMiner(HARD, text.replace('nodes-of-devnet: 1', 'port: 1999'))
    chmodSync(miner.file, 0o640)
    expect(await miner.get()).toMatchObject({ threads: 1, kernel: 'auto', log: 'text', http: '127.0.0.1:0' })
    expect(JSON.stringify(await miner.get())).not.toContain(TOKEN)
    expect(await miner.put({ threads: 2, confirmations: 2 })).toEqual([204, null])
    expect(await miner.threads()).toEqual(['thread0', 'thread1'])
    expect(await miner.get()).toMatchObject({ threads: 2, confirmations: 6 })
    const written = `# secret key: never lose it\nthreads: 2 # few\nhttp-token: ${TOKEN}\nport: 1999\nconfirmations: 2\n`
    expect(readFileSync(miner.file, 'utf8')).toEqual(written)
    expect(statSync(miner.file).mode & 0o777).toBe(0o640)
    expect(await miner.put({ confirmations: null })).toEqual([204, null])
    expect(readFileSync(miner.file, 'utf8')).not.toContain('confirmations')
    // The miner accepts its own configuration document unchanged.
    expect(await miner.put(await miner.get())).toEqual([204, null])
    expect(readFileSync(miner.file, 'utf8')).not.toContain('kernel')
    // The miner ignores its own write to the file: the next change is the next line.
    save(miner.file, readFileSync(miner.file, 'utf8').replace('threads: 2', 'threads: 3'))
    await miner.sees(/threads 2 -> 3\n/)
    expect(changes(miner)).toEqual([
      'configuration: threads 1 -> 2',
      'configuration: confirmations 6 -> 2, effective at the next start',
      'configuration: confirmations 2 -> 6, effective at the next start',
      'configuration: threads 2 -> 3',
    ])
  })

  it('/2/config refuses an invalid change as a whole, and clients without the token', async () => {
    const miner = await startMiner(HARD, `threads: 1\nhttp-token: ${TOKEN}\n`)
    const text = readFileSync(miner.file, 'utf8')
    for (const headers of [{}, { authorization: 'Bearer another-token' }]) {
      expect(await miner.put({ threads: 2 }, headers)).toEqual([401, { error: expect.stringMatching(/token/i) }])
    }
    for (const [body, error] of [
      [{ threads: 5000 }, /^threads: 5000: expected a whole number from 0 to 1024$/],
      [{ threads: 2, treads: 1 }, /^treads: no such option; did you mean threads\? \(GET \/2\/config/],
      [{ threads: 2, chains: '40' }, /has no chain 40 \(its chains are 0 to 9\)$/],
      [{ threads: 0 }, /nothing would search/],
      [{ engine: 'external', command: 'touch /tmp/x' }, /^engine: cannot be changed over HTTP/],
      [{ command: 'touch /tmp/x' }, /^command: cannot be changed over HTTP/],
      [{ account: 'mallory' }, /^account: cannot be changed over HTTP/],
      [{ 'http-token': 'another-token' }, /^http-token: cannot be changed over HTTP/],
      ['{"threads":', /^expected a JSON object of options/],
      ['[2]', /^expected a JSON object of options/],
    ] as const) {
      const answer = await miner.put(body)
      expect([body, ...answer]).toEqual([body, 400, { error: expect.stringMatching(error) }])
    }
    expect((await miner.put('x'.repeat(70_000)))[0]).toBe(413)
    expect(await miner.threads()).toEqual(['thread0'])
    expect(readFileSync(miner.file, 'utf8')).toEqual(text)
    const open = await startMiner(HARD, null)
    expect(await open.put({ threads: 1 })).toEqual([403, { error: expect.stringContaining('--http-token') }])
    expect((await open.get()).http).toBe('127.0.0.1:0')
    // The default number of threads depends on the GPUs.
    expect(await open.get()).not.toHaveProperty('threads')
  })

  it('/2/config keeps changes until the end of the run if there is no file, or if the command line overrides it', async () => {
    const miner = await startMiner([...HARD, '--threads', '1', '--http-token', TOKEN], null)
    expect(await miner.put({ threads: 2 })).toEqual([204, null])
    expect(await miner.threads()).toEqual(['thread0', 'thread1'])
    expect(await miner.put({ confirmations: 2 })).toEqual([
      400,
      {
        error: expect.stringMatching(
          /^confirmations: cannot be changed while the miner runs \(.*no configuration file/,
        ),
      },
    ])
    expect(await miner.put({ threads: null })).toEqual([204, null])
    expect(await miner.threads()).toEqual(['thread0'])
  })

  it('/2/config says so if the file cannot be written', async () => {
    // The name leaves no room for the temporary file beside it.
    const name = `${'x'.repeat(245)}.yaml`
    const miner = await startMiner(HARD, `threads: 1\nhttp-token: ${TOKEN}\n`, name)
    expect(await miner.put({ threads: 2 })).toEqual([204, null])
    await miner.sees(/cannot be written \(ENAMETOOLONG\); the change holds until the end of this run\n/)
    expect(await miner.threads()).toEqual(['thread0', 'thread1'])
    expect(await miner.put({ confirmations: 2 })).toEqual([400, { error: expect.stringMatching(/cannot be written/) }])
    // The last occurrence in the file wins.
    writeFileSync(miner.file, `threads: 3\nhttp-token: ${TOKEN}\n`)
    await miner.sees(/configuration: threads 2 -> 3\n/)
    expect(await miner.threads()).toEqual(['thread0', 'thread1', 'thread2'])
  })
})
