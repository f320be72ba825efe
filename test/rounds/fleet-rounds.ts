/**
 * Two leaders, two rigs and the NATS server of a fleet, all real processes, are killed and stopped repeatedly. At the
 * end every solution that a rig reported has a final verdict that agrees with the chains of the node: none is lost.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, type TestContext } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { decodeBase64Url, encodeBase64Url, readU16LE } from '../../src/ground/base/bytes.ts'
import { workLayout } from '../../src/ground/chain/header.ts'
import type { BlockRecord } from '../../src/mining/journal/record.ts'
import { type Running, run, start, stopAll } from '../cli/run.ts'
import { NatsServer } from '../fleet/nats.ts'
import { readRecords } from '../journal/records.ts'
import { itWith, lackOf } from '../needs.ts'
import { randomFrom } from '../random.ts'
import { until } from '../wait.ts'

const LEASE_MS = 10_000
const targets = ['rig', 'leader', 'nats', 'standby', 'leader and nats', 'rig and leader'] as const
const acts = ['kill', 'stop'] as const
type Name = 'a' | 'b' | 'one' | 'two'
const leaders = ['a', 'b'] as const
const rigs = ['one', 'two'] as const

class FleetField {
  readonly #folder: string
  readonly #node: string
  readonly nats: NatsServer
  readonly #runs = new Map<Name, Running>()
  /** Lines about solutions from earlier runs. */
  readonly #lines: string[] = []
  /** Block hashes of the solutions that rigs reported, in all runs. */
  readonly #found = new Set<string>()

  constructor(folder: string, node: string, nats: NatsServer) {
    this.#folder = folder
    this.#node = node
    this.nats = nats
    for (const name of [...leaders, ...rigs]) this.start(name)
  }

  state(name: Name): string {
    return join(this.#folder, name)
  }

  run(name: Name): Running {
    const run = this.#runs.get(name)
    if (run === undefined) throw new Error(`${name} does not run`)
    return run
  }

  start(name: Name): void {
    this.found()
    const shared = ['--state', this.state(name), '--http', 'off', '--log', 'json']
    const args =
      name === 'a' || name === 'b'
        ? ['lead', '--nats', this.nats.url, '--node', this.#node, '--confirmations', '2']
        : ['mine', '--fleet', this.nats.url, '--rig', name, '--threads', '1', '--gpu', 'none']
    this.#runs.set(name, start([...args, ...shared]))
  }

  /** Block hashes of all solutions that rigs have reported so far. */
  found(): ReadonlySet<string> {
    for (const name of rigs) {
      const lines = this.#runs.get(name)?.out().split('\n').slice(0, -1) ?? []
      for (const line of lines) if (line.includes('"step":"found"')) this.#found.add(JSON.parse(line).hash)
    }
    return this.#found
  }

  #linesOf(name: Name): string[] {
    const lines = this.#runs.get(name)?.out().split('\n').slice(0, -1) ?? []
    return lines.filter((line) => line.includes('"event":"solution"')).map((line) => `${name} ${line}`)
  }

  /** All log lines about a solution, shortened. */
  told(hash: string): string[] {
    const lines = [...this.#lines, ...[...leaders, ...rigs].flatMap((name) => this.#linesOf(name))]
    return lines
      .filter((line) => line.includes(hash))
      .map((line) => {
        const { time, step, reason = '', message = '' } = JSON.parse(line.slice(line.indexOf('{')))
        return `${time} ${line.slice(0, line.indexOf(' '))} ${step} ${reason} ${message}`.trim()
      })
      .sort()
  }

  /** The leader, according to the leaders' logs, or null if neither claims to lead. */
  leading(): 'a' | 'b' | null {
    const leads = (name: 'a' | 'b') => {
      const told = this.#runs
        .get(name)
        ?.out()
        .match(/"isLeading":(true|false)/g)
      return told?.at(-1) === '"isLeading":true'
    }
    return leaders.find(leads) ?? null
  }

  /** Waits until another block of a rig is accepted. */
  async mines(what: string): Promise<void> {
    const before = rigs.map((name) => this.run(name).out().length)
    const accepted = () =>
      rigs.some((name, i) => this.run(name).out().slice(before[i]).includes('"verdict":"accepted"'))
    await this.until(accepted, `${what}: a block is accepted`)
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    await until(() => {
      if (condition()) return true
      for (const [name, { child, err, out }] of this.#runs) {
        if (child.exitCode === null && child.signalCode === null) continue
        throw new Error(`${what}: ${name} ended by itself: ${err()} ${out().slice(-2000)}`)
      }
      return false
    })
  }

  async end(signal: NodeJS.Signals, names: readonly Name[]): Promise<void> {
    const ending = names.map((name) => this.run(name))
    for (const { child } of ending) child.kill(signal)
    await Promise.all(ending.map(({ ended }) => ended))
    this.found()
    for (const name of names) {
      this.#lines.push(...this.#linesOf(name))
      this.#runs.delete(name)
    }
  }
}

export interface FleetRound {
  readonly target: (typeof targets)[number]
  readonly act: (typeof acts)[number]
}

export function fleetRoundOf(i: number): FleetRound {
  return { target: targets[i % targets.length], act: acts[(i + Math.floor(i / targets.length)) % acts.length] }
}

/** @param maxStopMs longest stop. The lease of a leader is shorter than 4 s, that of a rig shorter than 12 s. */
export function testFleetKills(title: string, rounds: readonly FleetRound[], maxStopMs: number): void {
  afterEach(stopAll)
  const timeoutMs = 600_000 + rounds.length * 60_000
  itWith(lackOf('nats-server'), title, (context) => killAndStop(rounds, maxStopMs, context), timeoutMs)
}

async function killAndStop(rounds: readonly FleetRound[], maxStopMs: number, { annotate }: TestContext): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-fleet-'))
  const network = ['--graph', 'petersen', '--block-delay', '1s', '--difficulty', '1M', '--mine-page', 'off']
  const node = start(['devnet', '--port', '0', ...network])
  const [, url] = await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)/)
  const nats = await NatsServer.start(folder)
  const field = new FleetField(folder, url, nats)
  const random = randomFrom(Math.floor(2 ** 31 * Math.random()))
  const takeoversMs: number[] = []
  const done = new Map<string, number>()
  try {
    await field.mines('at the start')
    for (const [i, { target, act }] of rounds.entries()) {
      const what = `round ${i + 1}: ${act} ${target}`
      // The test exercises random moments and durations.
      await sleep(500 * random())
      await strike(field, { target, act, what, maxStopMs, takeoversMs, random })
      if (random() < 0.7) await field.mines(what)
      done.set(`${act} ${target}`, (done.get(`${act} ${target}`) ?? 0) + 1)
    }
    await field.mines('at the end')
    await settle(field)
    const outcome = await expectSettled(field, url)
    takeoversMs.sort((a, b) => a - b)
    const [half = 0, worst = 0] = [takeoversMs[Math.floor(takeoversMs.length / 2)], takeoversMs.at(-1)].map((ms) =>
      Math.round(ms ?? 0),
    )
    await annotate(`${[...done].map(([name, count]) => `${count} ${name}`).join(', ')}; ${outcome}`)
    await annotate(
      `${takeoversMs.length} takeovers of a killed leader, half within ${half} ms, the longest ${worst} ms`,
    )
  } finally {
    await stopAll()
    await nats.kill()
    rmSync(folder, { recursive: true })
  }
}

interface Blow {
  readonly target: (typeof targets)[number]
  readonly act: (typeof acts)[number]
  readonly what: string
  readonly maxStopMs: number
  readonly takeoversMs: number[]
  readonly random: () => number
}

async function strike(field: FleetField, { target, act, what, maxStopMs, takeoversMs, random }: Blow): Promise<void> {
  await field.until(() => field.leading() !== null, `${what}: somebody leads`)
  const leader = field.leading() ?? 'a'
  const standby = leader === 'a' ? 'b' : 'a'
  const rig = random() < 0.5 ? 'one' : 'two'
  const hit: Name[] = []
  if (target.includes('rig')) hit.push(rig)
  if (target.includes('leader')) hit.push(leader)
  if (target === 'standby') hit.push(standby)
  const hitsNats = target.includes('nats')
  if (act === 'stop') {
    const children = [...hit.map((name) => field.run(name).child), ...(hitsNats ? [field.nats.child] : [])]
    for (const child of children) child.kill('SIGSTOP')
    await sleep(200 + maxStopMs * random() ** 2)
    for (const child of children) child.kill('SIGCONT')
    return
  }
  const killedAtMs = performance.now()
  await Promise.all([field.end('SIGKILL', hit), hitsNats ? field.nats.kill() : null])
  if (target === 'leader') {
    // The standby must know this leader and be ready to take over.
    await field.until(() => field.leading() === standby, `${what}: the other one leads`)
    takeoversMs.push(performance.now() - killedAtMs)
  }
  await sleep(1000 * random())
  if (hitsNats) await field.nats.restart()
  for (const name of hit) field.start(name)
}

const ENDS = ['credited', 'stale', 'orphaned']
/** The leader pauses all rigs, so that no new solutions appear, and pending ones get their verdict. */
async function settle(field: FleetField): Promise<void> {
  // On a busy machine the fleet may have no leader for a moment. Then the command fails.
  const tell = (...args: string[]) => run(['fleet', ...args, '--nats', field.nats.url])
  await until(async () => (await tell('pause', 'all')).code === 0)
  // A rig learns of the pause with its next report, and may find a solution before that. The report after that says so.
  await until(async () => {
    const { code, out } = await tell('list', '--json')
    if (code !== 0) return false
    const listed = (JSON.parse(out) as { readonly rigs: readonly { readonly state: string }[] }).rigs
    return listed.length === rigs.length && listed.every(({ state }) => state === 'paused')
  })
  await until(async () => (await recordsOf(field)).every(({ state }) => ENDS.includes(state)))
  await field.end('SIGTERM', rigs)
  await field.end('SIGTERM', leaders)
}

interface RigRecord extends BlockRecord {
  readonly rig: Name
}

async function recordsOf(field: FleetField): Promise<RigRecord[]> {
  const journals = await Promise.all(rigs.map(async (rig) => ({ rig, ...(await readRecords(field.state(rig))) })))
  return journals.flatMap(({ rig, records }) => [...records.values()].map((record) => ({ rig, ...record })))
}

/** @returns a summary of the verdicts for people */
async function expectSettled(field: FleetField, url: string): Promise<string> {
  const client = await NodeClient.connect({ url })
  const blocks = new Set<string>()
  for (const [chain, { hash }] of Object.entries((await client.cut()).hashes)) {
    for await (const header of client.headerBranch(Number(chain), { upper: [hash] }, { minheight: 1 })) {
      blocks.add(encodeBase64Url(header.hash))
    }
  }
  await client.close()
  const records = await recordsOf(field)
  const known = new Set(records.map(({ hash }) => hash))
  expect(field.found().size).toBeGreaterThan(0)
  expect(
    [...field.found()].filter((hash) => !known.has(hash)),
    'solutions that no journal knows',
  ).toEqual([])
  expect(
    [...blocks].filter((hash) => !known.has(hash)),
    'blocks that no rig knows',
  ).toEqual([])
  const open = records.filter(({ state }) => !ENDS.includes(state)).map(({ hash }) => field.told(hash))
  expect(open, 'solutions that were lost, or that nobody followed').toEqual([])
  const wrong = records.filter(({ hash, state }) => blocks.has(hash) !== (state === 'credited'))
  expect(wrong, 'verdicts that the chains contradict').toEqual([])
  expectOwnRanges(records)
  const states = new Map<string, number>()
  for (const { state } of records) states.set(state, (states.get(state) ?? 0) + 1)
  return `${blocks.size} blocks, solutions: ${[...states].map(([state, n]) => `${n} ${state}`).join(', ')}`
}

/** No two rigs found solutions with the nonce bits of one lease within its time. */
function expectOwnRanges(records: readonly RigRecord[]): void {
  const last = new Map<number, { readonly rig: Name; readonly atMs: number }>()
  const shared: string[] = []
  const inOrder = [...records].sort((a, b) => Date.parse(a.foundAt) - Date.parse(b.foundAt))
  for (const { work, rig, foundAt, hash } of inOrder) {
    const bytes = decodeBase64Url(work)
    const lease = readU16LE(bytes, workLayout(bytes).nonce)
    const atMs = Date.parse(foundAt)
    const before = last.get(lease)
    if (before !== undefined && before.rig !== rig && atMs - before.atMs < LEASE_MS) shared.push(hash)
    last.set(lease, { rig, atMs })
  }
  expect(shared).toEqual([])
}
