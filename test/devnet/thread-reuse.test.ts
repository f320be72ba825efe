/** Workers of closed networks serve the next networks of the process. */
import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { IDLE_WORKER_MS, MAX_IDLE_WORKERS, ThreadWorker } from '../../src/devnet/execution/thread-worker.ts'
import { exec, local, makeBlocks, ok, poll, send, startLedger } from './commands-common.ts'
import type { Started } from './common.ts'

/** A worker that sends each network its id. */
const source = `import { parentPort, threadId, workerData } from 'node:worker_threads'
const serve = ({ port }) => port.postMessage(threadId)
serve(workerData)
parentPort.on('message', serve)`
/** A module of its own for each test: others have no spare workers of it. */
let tests = 0
const moduleOfTest = () => new URL(`data:text/javascript,${encodeURIComponent(`${source}//${tests}`)}`)
afterEach(() => {
  tests++
})

/** The id of the worker that a network gets, and the worker. */
async function worker(memoryMb = 64) {
  const { port1, port2 } = new MessageChannel()
  const signals = new Int32Array(new SharedArrayBuffer(8))
  const options = { memoryMb, onEnd: () => undefined, thread: moduleOfTest() }
  const given = ThreadWorker.acquire({ port: port2, signals, genesis: [] }, options)
  onTestFinished(() => given.end())
  const id = await new Promise<number>((resolve) => port1.once('message', resolve))
  port1.close()
  return { id, given }
}

describe('a worker', () => {
  it('a worker that its network releases serves the next one, and then no other', async () => {
    const first = await worker()
    first.given.release()
    const second = await worker()
    expect(second.id).toBe(first.id)
    expect((await worker()).id).not.toBe(first.id)
  })

  it('a worker that its network ends serves no other', async () => {
    const first = await worker()
    first.given.end()
    expect((await worker()).id).not.toBe(first.id)
  })

  it('a worker with less memory serves no network whose commands may take more', async () => {
    const first = await worker()
    first.given.release()
    expect((await worker(128)).id).not.toBe(first.id)
    expect((await worker()).id).toBe(first.id)
  })

  it('a worker ends if it waits too long for a network, or many others wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const late = await worker()
    late.given.release()
    vi.advanceTimersByTime(IDLE_WORKER_MS)
    expect((await worker()).id).not.toBe(late.id)
    const many = await Promise.all(Array.from({ length: MAX_IDLE_WORKERS + 1 }, () => worker()))
    for (const { given } of many) given.release()
    const next = await Promise.all(many.map(() => worker()))
    const kept = many.slice(1).map(({ id }) => id)
    expect(next.filter(({ id }) => kept.includes(id))).toHaveLength(MAX_IDLE_WORKERS)
    expect(next.map(({ id }) => id)).not.toContain(many[0].id)
  })
})

it('a network has nothing of the network that had its threads before', async () => {
  const result = async ({ peer }: Started, code: string) =>
    (await ok(local(peer, exec(code, { gasLimit: 10_000 })))).result
  for (const value of [1, 2]) {
    const started = await startLedger()
    expect((await result(started, '(free.m.f [1 2])')).error.message).toContain('free.m')
    const code = `(namespace "free") (module m G (defcap G () true) (defun f (x) (+ ${value} (length x))))`
    const command = exec(code, { gasLimit: 50_000 })
    await ok(send(started.peer, [command]))
    await makeBlocks(started.peer, { 0: 1 })
    const [deployed] = Object.values(await ok(poll(started.peer, [command.hash]))) as { result: { status: string } }[]
    expect(deployed.result.status).toBe('success')
    expect((await result(started, '(free.m.f [1 2])')).data).toEqual({ int: value + 2 })
    await started.devnet.close()
  }
})
