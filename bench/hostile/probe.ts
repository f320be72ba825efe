/** Runs hostile commands, each in a process of its own, and judges what they took. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { MAX_CPU_MS, MAX_MEMORY_MIB, MAX_WRITTEN_MIB } from './limits.ts'

/** Where a measurement ends, and the rest is extrapolated. */
export interface ProbeLimits {
  readonly enoughMs: number
  readonly enoughMiB: number
}

export interface Measured {
  readonly cpuMs: number
  /** CPU time to the end of the gas: `cpuMs` if the command ended, otherwise from its latest gas per second. */
  readonly estimatedMs: number
  readonly gas: number
  readonly peakMiB: number
  /** Peak before the command ran. */
  readonly memoryBefore: number
  /** Bytes that the command would write to disk. */
  readonly written: number
  readonly outcome: string
  /** Exception that left the command, or null. */
  readonly thrown: string | null
  readonly isWhole: boolean
}

export interface Probed extends Measured {
  readonly name: string
  /** Why the command fails, or null if it is within the limits. */
  readonly fault: string | null
}

const CHILD = fileURLToPath(new URL('./probe-child.js', import.meta.url))
/** A case that neither ends nor reports within this time hangs. */
const HANG_MS = 60_000
/** A command that is refused before it does what it is made for proves nothing. */
const NOT_RUN = /Expected: \[|Unbound|Cannot resolve|Namespace installation failed|not enough arguments/
const NOTHING: Measured = {
  ...{ cpuMs: 0, estimatedMs: 0, gas: 0, peakMiB: 0, memoryBefore: 0, written: 0, outcome: '', thrown: null },
  isWhole: false,
}

/** Runs one case. */
export function probe(name: string, limits: ProbeLimits): Promise<Probed> {
  return new Promise((resolve) => {
    const args = [CHILD, name, JSON.stringify(limits)]
    execFile(process.execPath, args, { timeout: HANG_MS, killSignal: 'SIGKILL' }, (error, out, err) => {
      const line = out.trim()
      if (line !== '') {
        const measured = JSON.parse(line) as Measured
        return resolve({ ...measured, name, fault: verdict(measured) })
      }
      const why = error?.killed
        ? 'hangs'
        : (err
            .trim()
            .split('\n')
            .find((each) => /rror/.test(each)) ?? 'no answer')
      resolve({ ...NOTHING, name, fault: `crash: ${why}` })
    })
  })
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
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const probed = await probe(name, limits)
      onProbed(probed)
      done.push(probed)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return done.sort((a, b) => worst(b) - worst(a))
}

const worst = (one: Probed) =>
  one.estimatedMs / MAX_CPU_MS + one.peakMiB / MAX_MEMORY_MIB + (one.fault?.startsWith('crash') ? 1e9 : 0)

/** Why a measured command is beyond the limits, or null if it is within them. */
export function verdict({ estimatedMs, peakMiB, written, thrown, outcome }: Measured): string | null {
  if (thrown !== null) return `throws ${thrown}`
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
