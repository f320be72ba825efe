/**
 * Models of rigs on virtual time: how each maker's rig logs in, takes jobs, leaves a silent server, and hands in shares at
 * its rate. No model hashes anything. The nonce of a share says how hard its hash is, and the server reads it back.
 */
import type { Socket } from 'node:net'
import { targetWords } from '../../../src/core/pow.ts'
import { MAX_TARGET } from '../../../src/core/target.ts'
import type { StratumEngine } from '../../../src/engine/stratum/stratum.ts'
import { LineSplitter } from '../../../src/stratum/lines.ts'
import type { VirtualClock } from '../../mine/virtual-clock.ts'
import { memorySockets } from './memory-socket.ts'

export interface RigModel {
  readonly agent: string
  readonly hashrate: number
  /** Hashes that a header has for the rig. Then it searches the same nonces again. */
  readonly space: number
  /** Hashes that its easiest share takes, whatever the target. */
  readonly leastShare: number
  /** The rig leaves after this time without a byte. */
  readonly silenceMs: number
  /** What it says before it subscribes, and the parameters and ids of its log-in. */
  readonly before?: readonly string[]
  readonly subscribeParams?: readonly unknown[]
  readonly ids?: readonly [subscribe: unknown, authorize: unknown]
  /** Further users of its connection: it is a proxy. */
  readonly users?: number
  /** Parameters behind the three of a share. */
  readonly extra?: readonly unknown[]
}

/** A rig connects again after this pause. */
const PAUSE_MS = 30_000
const FREE_SPACE = 2 ** 48
const MODEL = { space: FREE_SPACE, leastShare: 2 ** 32, silenceMs: 120_000 }
const TERA = 1e12

const ka3 = {
  ...MODEL,
  ...{ agent: 'GodMiner/2.0.0', hashrate: 166 * TERA, leastShare: 2 ** 40, silenceMs: 60_000 },
  // A counter of 256 values over three boards, 11.67 ms each.
  space: (166 * TERA * 256 * 0.01167) / 3,
}

export const models = {
  ka3,
  kdbox: { ...MODEL, agent: 'kdaminer-v1.0.0', hashrate: 1.6 * TERA, extra: ['0'] },
  kd6: { ...MODEL, agent: 'kdaminer-v1.0.0', hashrate: 29.2 * TERA, extra: [7] },
  bmk3: { ...MODEL, agent: 'BM-K3', hashrate: 70 * TERA, subscribeParams: ['BM-K3'] },
  bfgminer: {
    ...MODEL,
    ...{ agent: 'bfgminer/5.4.2', hashrate: 5 * TERA },
    before: [`{"id":null,"method":"mining.suggest_target","params":["${(MAX_TARGET >> 44n).toString(16)}"]}`],
    ids: [0, 'auth'] as const,
    subscribeParams: ['bfgminer/5.4.2'],
  },
  /** 100 rigs of Goldshell behind one connection. */
  farm: { ...MODEL, agent: 'farm-proxy/1.0', hashrate: 160 * TERA, users: 99 },
  /** A KA3 whose program has another name. */
  unknown: { ...ka3, agent: 'miner/1.0' },
} satisfies Record<string, RigModel>

/** Hashes by which a rig's place may be off, since times are rounded. */
const ROUNDING = 1e7
/** Levels of difficulty that a nonce can tell: 40 for each power of two. */
const LEVELS_PER_BIT = 40
const MAX_LEVEL = 2047
const FIRST_BIT = 16

/** The hash that a nonce of a model says it has. */
export function modelHash(_job: unknown, _nonce1: number, nonce2: number): Uint32Array {
  const level = Math.floor(nonce2 / 2 ** 8) % 2 ** 11
  const bits = FIRST_BIT + level / LEVELS_PER_BIT
  // 53 bits of the hash are enough.
  const scaled = BigInt(Math.floor(2 ** (52 - (bits % 1)))) << BigInt(256 - 52 - Math.floor(bits))
  return targetWords(scaled - 1n)
}

interface Find {
  readonly atHash: number
  readonly level: number
  readonly nonce2: string
}

export class ModelRig {
  readonly model: RigModel
  readonly user: string
  /** Milliseconds of new nonces, of nonces searched before, and of nothing, since `measure`. */
  time = { fresh: 0, repeated: 0, idle: 0 }
  /** Answers to shares by code; 0: accepted. */
  readonly answers = new Map<number, number>()
  readonly faults: string[] = []
  readonly shareTimes: number[] = []
  readonly lineTimes: number[] = []
  jobs = 0
  logins = 0
  readonly #engine: StratumEngine
  readonly #clock: VirtualClock
  readonly #random: () => number
  #socket: Socket | null = null
  #state: 'away' | 'subscribing' | 'authorizing' | 'mining' = 'away'
  #isOver = false
  /** False: it is connected and does not search. */
  #searches = true
  #nextId = 3
  #difficulty = 1
  #jobId = ''
  #header = ''
  /** Hashes done on the present header, and when they were counted. */
  #done = 0
  #countedAtMs: number
  #finds: Find[] = []
  #cancelShare: () => void = () => undefined
  #cancelSilence: () => void = () => undefined

  constructor(
    engine: StratumEngine,
    clock: VirtualClock,
    { model, user, random }: { model: RigModel; user: string; random: () => number },
  ) {
    this.#engine = engine
    this.#clock = clock
    this.model = model
    this.user = user
    this.#random = random
    this.#countedAtMs = clock.monotonicMs()
  }

  get difficulty(): number {
    return this.#difficulty
  }

  connect(): void {
    const { rig, server } = memorySockets()
    const lines = new LineSplitter(64 * 1024)
    this.#socket = rig
    this.#state = 'subscribing'
    this.#nextId = 3
    rig.on('data', (bytes) => {
      for (const line of lines.push(bytes) ?? []) this.#hear(line)
    })
    rig.on('close', () => this.#leave('closed'))
    rig.on('error', () => undefined)
    this.#engine.accept(server)
    const { before = [], subscribeParams, agent, ids = [1, 2] } = this.model
    const params = subscribeParams ?? [agent, null]
    for (const line of before) rig.write(`${line}\n`)
    rig.write(`${JSON.stringify({ id: ids[0], method: 'mining.subscribe', params })}\n`)
    this.#heard()
  }

  /** Begins to count anew. */
  measure(): void {
    this.#count()
    this.time = { fresh: 0, repeated: 0, idle: 0 }
  }

  /** What part of the time since `measure` it searched new nonces. */
  get useful(): number {
    this.#count()
    const { fresh, repeated, idle } = this.time
    return fresh / (fresh + repeated + idle)
  }

  /** Longest time without a line or a share. */
  get longestSilenceMs(): number {
    const times = [...this.lineTimes, ...this.shareTimes].sort((a, b) => a - b)
    return Math.max(0, ...times.slice(1).map((time, index) => time - times[index]))
  }

  begin(): void {
    this.#count()
    this.#searches = true
    this.#plan()
  }

  /** It stays connected, and searches nothing. */
  pause(): void {
    this.#count()
    this.#searches = false
    this.#cancelShare()
  }

  /** It goes, and does not come back. */
  stop(): void {
    this.#isOver = true
    this.#socket?.destroy()
  }

  #heard(): void {
    this.#cancelSilence()
    this.#cancelSilence = this.#clock.after(this.model.silenceMs, () => {
      this.faults.push('silence')
      this.#socket?.destroy()
    })
  }

  #leave(why: string): void {
    if (this.#state === 'away') return
    if (this.#state !== 'mining') this.faults.push(`${why} while ${this.#state}`)
    this.#count()
    this.#state = 'away'
    this.#header = ''
    this.#cancelShare()
    this.#cancelSilence()
    if (!this.#isOver) this.#clock.after(PAUSE_MS, () => this.connect())
  }

  #hear(line: string): void {
    this.#heard()
    this.lineTimes.push(this.#clock.monotonicMs())
    const { id, method, params, result, error } = JSON.parse(line)
    const [subscribeId, authorizeId] = this.model.ids ?? [1, 2]
    if (this.#state === 'subscribing') {
      if (id !== subscribeId || !Array.isArray(result) || !/^[0-9a-f]{4}$/.test(result[1]) || result[2] !== 6) {
        this.faults.push(`answer to subscribe: ${line}`)
        this.#socket?.destroy()
        return
      }
      this.#state = 'authorizing'
      const login = [this.user, 'x']
      this.#socket?.write(`${JSON.stringify({ id: authorizeId, method: 'mining.authorize', params: login })}\n`)
    } else if (method === 'mining.set_target') this.#take(params[0])
    else if (method === 'mining.notify') this.#search(params)
    else if (id === authorizeId) {
      if (result === null || result === false || error !== null) this.faults.push(`answer to authorize: ${line}`)
      this.#count()
      this.#state = 'mining'
      this.logins++
      for (let n = 1; n <= (this.model.users ?? 0); n++) {
        const params = [`${this.user}-${n}`, 'x']
        this.#socket?.write(`${JSON.stringify({ id: `user ${n}`, method: 'mining.authorize', params })}\n`)
      }
    } else if (typeof id === 'number') {
      const code = result === true ? 0 : (error?.[0] ?? -1)
      this.answers.set(code, (this.answers.get(code) ?? 0) + 1)
    }
  }

  #take(digits: string): void {
    if (digits.length !== 64) this.faults.push(`target of ${digits.length} digits`)
    this.#count()
    this.#difficulty = Number(MAX_TARGET) / Number(BigInt(`0x${digits}`))
    this.#plan()
  }

  #search([id, header]: readonly string[]): void {
    this.#count()
    this.jobs++
    this.#jobId = id
    if (header.length > 2 * 288) this.faults.push('header is too long')
    // The same header under another id goes on.
    if (header !== this.#header) {
      this.#header = header
      this.#done = 0
      this.#finds = []
    }
    this.#plan()
  }

  /** Counts what was done until now. */
  #count(): void {
    const nowMs = this.#clock.monotonicMs()
    const elapsedMs = nowMs - this.#countedAtMs
    this.#countedAtMs = nowMs
    if (this.#header === '' || !this.#searches) {
      this.time.idle += elapsedMs
      return
    }
    const { space, hashrate } = this.model
    const freshMs = Math.min(elapsedMs, (Math.max(0, space - this.#done) / hashrate) * 1000)
    this.time.fresh += freshMs
    this.time.repeated += elapsedMs - freshMs
    this.#done += (hashrate * elapsedMs) / 1000
  }

  get #least(): number {
    return Math.max(this.model.leastShare, this.#difficulty)
  }

  /** The next share: a new one in the first pass of the nonces, and those of that pass in all later ones. */
  #plan(): void {
    this.#cancelShare()
    if (this.#header === '' || !this.#searches) return
    const { space, hashrate } = this.model
    let find: Find | null = null
    let inHashes = 0
    if (this.#done < space) {
      inHashes = -Math.log(1 - this.#random()) * this.#least
      if (this.#done + inHashes < space) find = this.#found(this.#done + inHashes)
      else inHashes = space - this.#done
    }
    if (find === null) {
      const at = this.#done < space ? 0 : this.#done % space
      const again = this.#finds.filter(({ level }) => 2 ** (FIRST_BIT + level / LEVELS_PER_BIT) >= this.#difficulty)
      if (again.length === 0) return
      const next = again.find(({ atHash }) => atHash > at + ROUNDING) ?? again[0]
      inHashes += next.atHash > at + ROUNDING ? next.atHash - at : space - at + next.atHash
      find = next
    }
    const share = find
    const [jobId, header] = [this.#jobId, this.#header]
    this.#cancelShare = this.#clock.after((inHashes * 1000) / hashrate, () => {
      this.#count()
      if (this.#header === header && this.#done <= space) this.#finds.push(share)
      this.#submit(jobId, share)
      this.#plan()
    })
  }

  #found(atHash: number): Find {
    const bits = Math.log2(this.#least / (1 - this.#random()))
    const level = Math.min(MAX_LEVEL, Math.ceil((bits - FIRST_BIT) * LEVELS_PER_BIT))
    const nonce = Math.floor(this.#random() * 2 ** 29) * 2 ** 19 + level * 2 ** 8 + Math.floor(this.#random() * 256)
    return { atHash, level, nonce2: nonce.toString(16).padStart(12, '0') }
  }

  #submit(jobId: string, { nonce2 }: Find): void {
    this.shareTimes.push(this.#clock.monotonicMs())
    const params = [this.#shareUser(), jobId, nonce2, ...(this.model.extra ?? [])]
    this.#socket?.write(`${JSON.stringify({ id: ++this.#nextId, method: 'mining.submit', params })}\n`)
  }

  #shareUser(): string {
    const number = Math.floor(this.#random() * (1 + (this.model.users ?? 0)))
    return number === 0 ? this.user : `${this.user}-${number}`
  }
}
