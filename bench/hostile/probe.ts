/** Runs hostile commands, many in a process, and judges what they took. */
import { MAX_CPU_MS, MAX_MEMORY_MIB, MAX_WRITTEN_MIB } from './limits.ts'
import { type Crashed, type Measured, type ProbeLimits, ProbeProcess } from './probe-process.ts'

export interface Probed extends Measured {
  readonly name: string
  /** Why the command fails, or null if it is within the limits. */
  readonly fault: string | null
  /** Whether a process of its own measured it. */
  readonly isAlone: boolean
}

/** A command that is refused before it does what it is made for proves nothing. */
const NOT_RUN = /Expected: \[|Unbound|Cannot resolve|Namespace installation failed|not enough arguments/
/** How a node words an exception that is not an error of a contract. */
const INTERNAL = /Internal error: .*/
const NOTHING: Measured = {
  cpuMs: 0,
  estimatedMs: 0,
  gas: 0,
  peakMiB: 0,
  memoryBefore: 0,
  written: 0,
  outcome: '',
  thrown: null,
  isWhole: false,
}

/** Below this a command is clear. Beyond it, a process that measured others before need not finish the command. */
const CLEAR: ProbeLimits = { enoughMs: MAX_CPU_MS / 2, enoughMiB: MAX_MEMORY_MIB / 2 }

/**
 * Whether a command is so far within the limits that a process of its own could not show otherwise. Code that ran before
 * is compiled already, which makes a command cheaper; what is left in memory can only make it look larger.
 */
export function isClear(measured: Measured): boolean {
  const { estimatedMs, peakMiB, isWhole } = measured
  return isWhole && verdict(measured) === null && estimatedMs <= CLEAR.enoughMs && peakMiB <= CLEAR.enoughMiB
}

/** Measures commands in one process after another. */
class Prober {
  readonly #limits: ProbeLimits
  #process: ProbeProcess | null = null

  constructor(limits: ProbeLimits) {
    this.#limits = limits
  }

  /** Measures a command, and again in a process of its own unless it is far within the limits. */
  async probe(name: string): Promise<Probed> {
    const first = await this.#measure(name)
    if (first.isAlone || isClear(first)) return first
    await this.end()
    return this.#measure(name)
  }

  async #measure(name: string): Promise<Probed> {
    this.#process ??= new ProbeProcess(this.#limits.enoughMiB)
    const isAlone = this.#process.count === 0
    const answer = await this.#process.measure(name, isAlone ? this.#limits : CLEAR)
    if (this.#process.isSpent) await this.end()
    return { ...judge(answer), name, isAlone }
  }

  async end(): Promise<void> {
    const ended = this.#process
    this.#process = null
    await ended?.end()
  }
}

function judge(answer: Measured | Crashed): Measured & Pick<Probed, 'fault'> {
  if ('crash' in answer) return { ...NOTHING, fault: `crash: ${answer.crash}` }
  return { ...answer, fault: verdict(answer) }
}

/** Runs cases, `jobs` at a time. */
export async function probeAll(
  names: readonly string[],
  { jobs, ...limits }: ProbeLimits & { readonly jobs: number },
  onProbed: (probed: Probed) => void = () => undefined,
): Promise<Probed[]> {
  const left = [...names]
  const done: Probed[] = []
  const work = async () => {
    const prober = new Prober(limits)
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const probed = await prober.probe(name)
      onProbed(probed)
      done.push(probed)
    }
    await prober.end()
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return done.sort((a, b) => worst(b) - worst(a))
}

const worst = (one: Probed) =>
  one.estimatedMs / MAX_CPU_MS + one.peakMiB / MAX_MEMORY_MIB + (one.fault?.startsWith('crash') ? 1e9 : 0)

/** Why a measured command is beyond the limits, or null if it is within them. */
export function verdict({ estimatedMs, peakMiB, written, thrown, outcome }: Measured): string | null {
  if (thrown !== null) return `throws ${thrown}`
  const internal = INTERNAL.exec(outcome)
  if (internal !== null) return `throws ${internal[0]}`
  if (outcome === 'memory' || peakMiB > MAX_MEMORY_MIB) return `memory: ${Math.round(peakMiB)} MiB`
  if (estimatedMs > MAX_CPU_MS) return `time: ${seconds(estimatedMs)} s`
  if (NOT_RUN.test(outcome)) return `does not run: ${outcome}`
  if (written > MAX_WRITTEN_MIB * 2 ** 20) return `writes ${Math.round(written / 2 ** 20)} MiB`
  return null
}

export function seconds(ms: number): string {
  return ms > 3.6e6 ? 'more than 3600' : (ms / 1000).toFixed(ms < 10_000 ? 2 : 1)
}

/** One line of the table. */
export function lineOf({ name, estimatedMs, isWhole, peakMiB, written, gas, outcome, fault }: Probed): string {
  const time = `${isWhole ? '' : '~'}${seconds(estimatedMs)}`
  const columns = [
    time.padStart(15),
    `${Math.round(peakMiB)}`.padStart(5),
    `${(written / 2 ** 20).toFixed(1)}`.padStart(6),
  ]
  return `${fault === null ? '    ' : 'FAIL'} ${columns.join(' ')} ${Math.round(gas).toString().padStart(7)}  ${name}: ${fault ?? outcome}`
}
