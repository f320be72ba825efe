/** A process that measures hostile commands, seen from its parent. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Where a measurement ends, and the rest is extrapolated. */
export interface ProbeLimits {
  readonly enoughMs: number
  readonly enoughMiB: number
}

/** From the parent to the process. */
export interface ProbeTask {
  readonly name: string
  readonly limits: ProbeLimits
}

export interface Measured {
  /** Processor time of the whole process while the command ran. */
  readonly cpuMs: number
  /** CPU time to the end of the gas: `cpuMs` if the command ended, otherwise from its latest gas per second. */
  readonly estimatedMs: number
  readonly gas: number
  /** Peak of the whole process while the command ran. */
  readonly peakMiB: number
  /** Memory of the process before the command ran. */
  readonly memoryBefore: number
  /** Bytes that the command would write to disk. */
  readonly written: number
  readonly outcome: string
  /** Exception that left the command, or null. */
  readonly thrown: string | null
  readonly isWhole: boolean
}

/** The process ended without an answer. */
export interface Crashed {
  readonly crash: string
}

const CHILD = fileURLToPath(new URL('./probe-child.js', import.meta.url))
/** A case that neither ends nor reports within this time hangs. */
const HANG_MS = 60_000
/** A process that has needed more memory than this is replaced: the next command would be measured on top of it. */
const SPOILED_MIB = 256

export class ProbeProcess {
  readonly #child: ChildProcess
  #errors = ''
  #count = 0
  #isSpent = false

  /** @param heapMiB limit of the heap of the commands */
  constructor(heapMiB: number) {
    this.#child = fork(CHILD, [`${heapMiB}`], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString()
    })
    // A message to a process that has just ended; its end is the answer.
    this.#child.on('error', (error) => {
      this.#errors += `${error}\n`
    })
  }

  /** Number of commands that it has measured. */
  get count(): number {
    return this.#count
  }

  /** Whether a further command needs another process. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  /** Measures one command up to these limits. Must not be called again before the answer. */
  async measure(name: string, limits: ProbeLimits): Promise<Measured | Crashed> {
    const answer = await this.#ask({ name, limits })
    this.#count++
    this.#isSpent ||= 'crash' in answer || !answer.isWhole || answer.thrown !== null || answer.peakMiB > SPOILED_MIB
    return answer
  }

  #ask(task: ProbeTask): Promise<Measured | Crashed> {
    return new Promise((resolve) => {
      const child = this.#child
      const end = (answer: Measured | Crashed) => {
        clearTimeout(timer)
        child.off('message', end).off('close', onClose)
        resolve(answer)
      }
      const onClose = () =>
        end({
          crash:
            this.#errors
              .split('\n')
              .find((each) => /rror/.test(each))
              ?.trim() ?? 'no answer',
        })
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        end({ crash: 'hangs' })
      }, HANG_MS)
      child.on('message', end).on('close', onClose)
      child.send(task)
    })
  }

  /** Ends the process. */
  end(): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
    return new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.kill('SIGKILL')
    })
  }
}
