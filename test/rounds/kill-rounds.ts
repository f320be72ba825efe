/**
 * A miner, its search thread, its GPU child process and its node, all real, are killed and stopped repeatedly in every
 * phase. After each round the journal has every solution that a miner reported, and, if the miner mines again, every
 * block of the node. At the end every solution in the journal has a final verdict that agrees with the chains of the
 * node: none is lost.
 *
 * Processes get SIGKILL, or SIGSTOP and a while later SIGCONT. No signal reaches one thread alone: Node terminates a
 * search thread, or stops it as a debugger does (threads.mjs). Without a software driver for a GPU the rounds of its
 * child are skipped, with the reason.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it, type TestContext } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import type { BlockRecord } from '../../src/mining/journal/record.ts'
import { stopAll } from '../cli/run.ts'
import { testDrivers } from '../gpu/driver.ts'
import { isUnfinished, readRecords } from '../journal/records.ts'
import { freePort } from '../ports.ts'
import { randomFrom } from '../random.ts'
import { isFull } from '../rotation.ts'
import { until } from '../wait.ts'
import { Field } from './field.ts'

const CONFIRMATIONS = 3
/** Longest random wait after the start of a process, and after SIGTERM, in ms. */
const MAX_START_MS = 2000
const MAX_END_MS = 200

const driver = (await testDrivers()).at(-1) ?? null
const targets = [
  'miner',
  'node',
  'both',
  'search thread',
  ...(driver === null ? [] : (['GPU child'] as const)),
] as const
/** The target starts, searches, has a solution in flight, or ends after SIGTERM. */
const phases = ['start', 'search', 'solution', 'end'] as const
const acts = ['kill', 'stop'] as const

export interface Round {
  readonly target: (typeof targets)[number]
  readonly phase: (typeof phases)[number]
  readonly act: (typeof acts)[number]
}

/** Kills while all search: each target once in a full run, else miner and node only together. */
export const oneKillOfEach: readonly Round[] = targets
  .filter((target) => isFull || (target !== 'miner' && target !== 'node'))
  .map((target) => ({ target, phase: 'search', act: 'kill' }))

/** All combinations, each once in 8 rounds per target. A search thread is never stopped while the miner ends. */
export function roundOf(i: number): Round {
  const which = i % targets.length
  const lap = Math.floor(i / targets.length)
  const phase = phases[(lap + which) % phases.length]
  const act = acts[(lap + which + Math.floor(lap / phases.length)) % acts.length]
  const target = targets[which]
  // Node may abort if it exits while a debugger holds one of its threads. That says nothing about the miner.
  const isHeldAtEnd = target === 'search thread' && phase === 'end' && act === 'stop'
  return { target, phase: isHeldAtEnd ? 'search' : phase, act }
}

class Blow {
  readonly #field: Field
  readonly #round: Round
  readonly #random: () => number
  readonly #maxStopMs: number
  /** Process id of the targeted GPU child. */
  #pid: number | undefined

  constructor(field: Field, round: Round, random: () => number, maxStopMs: number) {
    this.#field = field
    this.#round = round
    this.#random = random
    this.#maxStopMs = maxStopMs
  }

  async strike(): Promise<void> {
    await this.#enter()
    if (this.#round.act === 'kill') this.#signal('SIGKILL')
    else {
      this.#signal('SIGSTOP')
      await sleep(200 + this.#maxStopMs * this.#random() ** 2)
      this.#signal('SIGCONT')
    }
    await this.#restore()
  }

  /** Waits for the phase. */
  async #enter(): Promise<void> {
    const { target, phase } = this.#round
    // The test exercises random moments.
    const wait = (maxMs: number) => sleep(maxMs * this.#random())
    switch (phase) {
      case 'start':
        this.#endInOrder()
        await this.#startWhatEnds(500 * this.#random())
        if (target === 'search thread') await this.#field.hasThread()
        if (target !== 'GPU child') return wait(MAX_START_MS)
        await this.#field.gpuChild()
        await wait(MAX_START_MS)
        break
      case 'search':
        await this.#field.mines()
        await wait(500)
        break
      case 'solution':
        await this.#field.says('"step":"found"')
        await wait(30)
        break
      case 'end':
        await this.#field.hasThread()
        if (target === 'GPU child') this.#pid = await this.#field.gpuChild()
        this.#endInOrder()
        return wait(MAX_END_MS)
    }
    if (target === 'GPU child') this.#pid = await this.#field.gpuChild()
  }

  #hits(name: 'miner' | 'node'): boolean {
    const { target } = this.#round
    return target === 'both' || target === name || (name === 'miner' && target !== 'node')
  }

  /** Sends SIGTERM to the target, or to the process that the target is part of. */
  #endInOrder(): void {
    if (this.#hits('miner')) this.#field.miner.child.kill('SIGTERM')
    if (this.#hits('node')) this.#field.node.child.kill('SIGTERM')
  }

  #signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    const { miner, node } = this.#field
    switch (this.#round.target) {
      case 'search thread':
        miner.child.kill(signal === 'SIGKILL' ? 'SIGUSR2' : 'SIGWINCH')
        return
      case 'GPU child':
        signalTo(this.#pid ?? 0, signal)
        return
      default:
        if (this.#hits('node')) node.child.kill(signal)
        if (this.#hits('miner')) miner.child.kill(signal)
    }
  }

  /** Restarts processes that have ended. A part of the miner has to recover by itself. */
  async #restore(): Promise<void> {
    const { target, phase, act } = this.#round
    const isPart = target === 'search thread' || target === 'GPU child'
    if (phase === 'end' || (act === 'kill' && !isPart)) {
      const { signal, err } = await this.#startWhatEnds(1500 * this.#random())
      // A miner that is about to exit has already removed the handler of this signal, and dies of it.
      const isOwn = target === 'search thread' && phase === 'end' && signal === 'SIGUSR2'
      if (isPart && !isOwn) expect(signal, `the miner did not end in order, ${act} ${target}: ${err}`).toBeNull()
    } else if (act === 'kill' && phase !== 'start') {
      const name = target === 'GPU child' ? 'gpu0' : 'thread0'
      if (target === 'GPU child') await this.#field.gpuChild(this.#pid)
      await this.#field.said(
        target === 'GPU child' ? /gpu0 failed and is started again/ : /thread 0 died and is started/,
      )
      await this.#field.says(new RegExp(`"device":"${name}"`))
    }
  }

  /**
   * Restarts the targeted processes once they have ended; the node starts `nodeMs` after the miner. @returns how the
   * miner ended, or else the node
   */
  async #startWhatEnds(nodeMs: number): Promise<{ readonly signal: string | null; readonly err: string }> {
    const { miner, node } = this.#field
    const [ofMiner, ofNode] = await Promise.all([
      this.#hits('miner') ? miner.ended : null,
      this.#hits('node') ? node.ended : null,
    ])
    if (ofMiner !== null) this.#field.startMiner()
    if (ofNode !== null) {
      await sleep(nodeMs)
      this.#field.startNode()
    }
    return ofMiner ?? ofNode ?? { signal: null, err: '' }
  }
}

/** Sends a signal; a process that has gone needs none. */
function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Hashes of all blocks on the branches of the heads, without the genesis blocks. */
async function blocksOf(client: NodeClient): Promise<Set<string>> {
  const hashes = new Set<string>()
  for (const [chain, { hash }] of Object.entries((await client.cut()).hashes)) {
    for await (const header of client.headerBranch(Number(chain), { upper: [hash] }, { minheight: 1 })) {
      hashes.add(encodeBase64Url(header.hash))
    }
  }
  return hashes
}

/** @param maxStopMs longest stop. A GPU that is silent for 4.5 s counts as hung. */
export function testKills(title: string, rounds: readonly Round[], maxStopMs: number): void {
  afterEach(stopAll)
  it(title, { timeout: 600_000 + rounds.length * 60_000 }, (context) => killAndStop(rounds, maxStopMs, context))
}

async function killAndStop(rounds: readonly Round[], maxStopMs: number, { annotate }: TestContext): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-rounds-'))
  const field = new Field({ folder, port: await freePort(), confirmations: CONFIRMATIONS, driver })
  const random = randomFrom(Math.floor(2 ** 31 * Math.random()))
  const done = new Map<string, number>()
  try {
    await field.mines()
    for (const [i, round] of rounds.entries()) {
      const name = `${round.act} ${round.target}`
      await new Blow(field, round, random, maxStopMs).strike()
      done.set(name, (done.get(name) ?? 0) + 1)
      // In every other round on average the miner mines again before the next round.
      const mines = random() < 0.5
      if (mines) await field.mines()
      await expectAccounted(field, { round: `round ${i + 1}: ${name} at ${round.phase}`, mines })
    }
    await field.mines()
    const outcome = await expectSettled(field)
    const kinds = [...done].map(([name, count]) => `${count} ${name}`).join(', ')
    await annotate(`${kinds}; ${driver === null ? 'no GPU' : driver.name}; ${outcome}`)
  } finally {
    for (const { child } of [field.node, field.miner]) child.kill('SIGKILL')
    await Promise.all([field.node.ended, field.miner.ended])
    rmSync(folder, { recursive: true })
  }
  // A child exits with its miner, however the miner ended.
  await until(() => field.leftBehind().length === 0)
}

/** The journal has every solution found so far. @param mines whether the node can list its blocks */
async function expectAccounted(
  field: Field,
  { round, mines }: { readonly round: string; readonly mines: boolean },
): Promise<void> {
  // The journal has a solution before the miner reports it, and before the node receives it.
  const found = field.found()
  const blocks = mines ? await withClient(field, blocksOf) : new Set<string>()
  const { records } = await readRecords(field.state)
  const unknown = [...found, ...blocks].filter((hash) => !records.has(hash))
  expect(unknown, `${round}: solutions that the journal does not know`).toEqual([])
  const lost = [...records.values()].filter((record) => {
    return record.state === 'lost' && !isUnfinished(record, CONFIRMATIONS)
  })
  expect(lost, `${round}: lost solutions`).toEqual([])
}

async function withClient<T>({ url }: Field, run: (client: NodeClient) => Promise<T>): Promise<T> {
  const client = await NodeClient.connect({ url })
  try {
    return await run(client)
  } finally {
    await client.close()
  }
}

/** @returns a summary of the verdicts for people */
async function expectSettled(field: Field): Promise<string> {
  // Mining goes on until all solutions so far are settled. It ends then, so the newest stay open.
  const isOpen = (record: BlockRecord) => isUnfinished(record, CONFIRMATIONS)
  const known = [...(await readRecords(field.state)).records.keys()]
  const left = async () => {
    const { records } = await readRecords(field.state)
    return known.map((hash) => records.get(hash) ?? hash).filter((each) => typeof each === 'string' || isOpen(each))
  }
  await expect.poll(left, { interval: 200, message: 'solutions that are not followed' }).toEqual([])
  field.miner.child.kill('SIGTERM')
  await field.miner.ended
  const blocks = await withClient(field, blocksOf)
  expect(field.found().size, 'solutions that the miners told of').toBeGreaterThan(0)
  const { records, damaged } = await readRecords(field.state)
  expect(
    [...blocks].filter((hash) => !records.has(hash)),
    'blocks that the journal does not know',
  ).toEqual([])
  const all = [...records.values()]
  const settled = all.filter((record) => !isOpen(record))
  const wrong = settled.filter(({ hash, state }) => blocks.has(hash) !== (state === 'confirmed'))
  expect(wrong, 'verdicts that the chains contradict').toEqual([])
  // A solution that the last stop left to the next start is not lost.
  expect(
    settled.filter(({ state }) => state === 'lost'),
    'lost solutions',
  ).toEqual([])
  // A restarted node has forgotten the payloads of its work.
  const refused = all.filter(({ state }) => state === 'rejected')
  expect(refused.filter(({ reason }) => reason !== 'no-payload')).toEqual([])
  expect(refused.length).toBeLessThanOrEqual(10 * (field.nodes - 1))
  expect(damaged).toBe(0)
  const counts = new Map<string, number>()
  for (const { state, reason } of all) {
    const key = reason === null ? state : `${state} (${reason})`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const states = [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
  return `${field.nodes} runs of the node, ${blocks.size} blocks, solutions: ${states}`
}
