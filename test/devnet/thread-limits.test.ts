/** Limits of an execution thread itself: the time that it takes to load, and the commands that wait for it. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyState } from '../../src/contracts/machine/state.ts'
import { Executor, MAX_WAITING } from '../../src/devnet/execution/executor.ts'
import type { CommandTask } from '../../src/devnet/execution/messages.ts'
import { NodeModules } from '../../src/devnet/execution/node-modules.ts'

/** A thread that neither loads nor ends by itself. */
const hanging = new URL('data:text/javascript,for (;;);')
const task = {} as CommandTask
const source = {
  state: { get: () => undefined, keys: () => [] },
  verify: () => ({ fault: '' }),
  verifySpv: () => ({ fault: '' }),
}

function executorOf(maxLoadMs: number): Executor {
  const executor = new Executor({ modules: new NodeModules(emptyState), thread: hanging, maxLoadMs })
  onTestFinished(() => executor.close())
  return executor
}

describe('a thread that does not load', () => {
  it('ends, and with it all commands that wait for it, also those without a deadline', async () => {
    const executor = executorOf(50)
    const outcomes = [true, true, false].map((hasDeadline) => executor.run(task, source, hasDeadline))
    expect(await Promise.all(outcomes)).toEqual(Array(3).fill({ stopped: 'unavailable' }))
    await executor.warm()
    expect([executor.isWarm, executor.isIdle]).toEqual([false, true])
  })

  it('has so many waiting commands at most; those of blocks of others wait always', async () => {
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
