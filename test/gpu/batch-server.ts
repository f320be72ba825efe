/** Runs single batches on the software driver, in a child process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Batch, BatchResult } from '../../src/mining/engine/gpu/layout.ts'

export interface BatchRequest {
  readonly bytes: Uint8Array
  readonly target: bigint
  readonly batch: Batch
  readonly workgroup?: number
  readonly split?: boolean
}

export class BatchServer {
  readonly #process: ChildProcess
  readonly #answers: AsyncIterator<string>

  constructor(env: Readonly<Record<string, string>>) {
    this.#process = spawn(process.execPath, [fileURLToPath(new URL('./batch-child.mjs', import.meta.url))], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const { stdout } = this.#process
    if (stdout === null) throw new Error('no output')
    this.#answers = createInterface({ input: stdout })[Symbol.asyncIterator]()
  }

  async run({ bytes, target, batch, workgroup = 64, split = false }: BatchRequest): Promise<BatchResult> {
    const request = { workgroup, split, bytes: Buffer.from(bytes).toString('hex'), target: String(target), batch }
    this.#process.stdin?.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await this.#answers.next()
    if (done) throw new Error('the batch server died')
    const { found, nonces } = JSON.parse(value) as { found: number; nonces: string[] }
    return { found, nonces: nonces.map(BigInt).sort((a, b) => (a < b ? -1 : 1)) }
  }

  close(): void {
    this.#process.kill('SIGKILL')
  }
}
