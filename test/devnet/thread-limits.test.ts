/** Limits of an execution thread itself: the time that it takes to load, and the commands that wait for it. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { Executor, MAX_WAITING } from '../../src/devnet/execution/executor.ts'
import type { CommandTask } from '../../src/devnet/execution/messages.ts'
import { NodeModules } from '../../src/devnet/execution/node-modules.ts'
import { linuxThreadId, measureThread } from '../../src/devnet/execution/processor-time.ts'
import { emptyState } from '../../src/language/contracts/machine/state.ts'

/** A thread that neither loads nor ends by itself. */
const hanging = new URL('data:text/javascript,for (;;);')
const task = {} as CommandTask
const source = {
  state: { get: () => undefined, keys: () => [] },
  verify: () => ({ fault: '' }),
  verifySpv: () => ({ fault: '' }),
}

/** A thread that asks the node once for each task. */
const asking = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { readlinkSync } from 'node:fs'
    import { workerData } from 'node:worker_threads'
    const { port } = workerData
    port.on('message', (message) => {
      port.postMessage('answer' in message ? { result: { text: 'done' } } : { question: { ask: 'keys', domain: 'd' } })
    })
    port.postMessage({ ready: true, threadId: Number(readlinkSync('/proc/thread-self').split('/').at(-1)) })
  `)}`,
)

/** Uses this much processor time of this thread. */
function spin(cpuMs: number): void {
  const start = process.cpuUsage()
  for (let spentMs = 0; spentMs < cpuMs; ) {
    const { user, system } = process.cpuUsage(start)
    spentMs = (user + system) / 1000
  }
}

it('a command does not pay for the time of a busy node', async (context) => {
  if (linuxThreadId() === null) return context.skip('only Linux reports the processor time of a thread')
  const commandLimits = { cpuMs: 100, memoryMb: 64 }
  const executor = new Executor({ modules: new NodeModules(emptyState), thread: asking, commandLimits })
  onTestFinished(() => executor.close())
  await executor.warm()
  const keys = () => {
    spin(500)
    return []
  }
  const spentMs = executor.measure()
  const outcome = await executor.run(task, { ...source, state: { ...source.state, keys } })
  expect(outcome).toEqual({ text: 'done' })
  expect(spentMs()).toBeLessThan(100)
})

it('the processor time of a thread grows with its own work', (context) => {
  const threadId = linuxThreadId()
  if (threadId === null) return context.skip('only Linux reports the processor time of a thread')
  const [ofThread, ofProcess] = [measureThread(threadId), measureThread(null)]
  spin(300)
  expect(ofThread()).toBeGreaterThan(100)
  expect(ofProcess()).toBeGreaterThanOrEqual(300)
  // A thread that has ended: the time of the process counts.
  const ended = measureThread(2 ** 22 + 1)
  spin(20)
  expect(ended()).toBeGreaterThanOrEqual(20)
})

function executorOf(maxLoadMs: number): Executor {
  const executor = new Executor({ modules: new NodeModules(emptyState), thread: hanging, maxLoadMs })
  onTestFinished(() => executor.close())
  return executor
}

describe('a thread that does not load', () => {
  it('a thread that does not load ends, and with it all commands that wait for it, also those without a deadline', async () => {
    const executor = executorOf(50)
    const outcomes = [true, true, false].map((hasDeadline) => executor.run(task, source, hasDeadline))
    expect(await Promise.all(outcomes)).toEqual(Array(3).fill({ stopped: 'unavailable' }))
    await executor.warm()
    expect(executor.isWarm).toBe(false)
    expect(executor.isIdle).toBe(true)
  })

  it('a thread that does not load has a limited number of waiting commands; those of blocks of others wait always', async () => {
    const executor = executorOf(60_000)
    const settled: string[] = []
    const run = (name: string, hasDeadline: boolean) =>
      executor.run(task, source, hasDeadline).then((outcome) => settled.push(`${name} ${JSON.stringify(outcome)}`))
    // The first one does not wait for others.
    const waiting = Array.from({ length: MAX_WAITING + 1 }, () => run('waits', true))
    await run('over', true)
    expect(settled).toEqual(['over {"stopped":"unavailable"}'])
    const ofOthers = run('of others', false)
    executor.close()
    await Promise.all([...waiting, ofOthers])
    expect(settled).toHaveLength(MAX_WAITING + 3)
    expect(settled.slice(1).every((each) => each.endsWith('{"stopped":"closed"}'))).toBe(true)
    expect(settled).toContain('of others {"stopped":"closed"}')
  })
})
