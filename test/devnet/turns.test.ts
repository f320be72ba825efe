import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { type Steps, Turns } from '../../src/devnet/mempool/turns.ts'

const run = promisify(execFile)

/** Steps that each take longer than a turn. */
function* slow(name: string, steps: number, told: string[]): Steps<string> {
  for (let step = 1; step <= steps; step++) {
    const endMs = performance.now() + 5
    while (performance.now() < endMs);
    told.push(`${name}${step}`)
    yield
  }
  return name
}

it('kinds of work take turns, and so do the works of one kind', async () => {
  const turns = new Turns()
  const told: string[] = []
  const works = [
    turns.run('commands', slow('a', 2, told)),
    turns.run('commands', slow('b', 2, told)),
    turns.run('blocks', slow('c', 3, told)),
  ]
  expect(await Promise.all(works)).toEqual(['a', 'b', 'c'])
  expect(told).toEqual(['a1', 'c1', 'b1', 'c2', 'a2', 'c3', 'b2'])
})

it('requests are served between two turns', async () => {
  const turns = new Turns()
  const told: string[] = []
  const work = turns.run('commands', slow('a', 4, told))
  setTimeout(() => told.push('served'), 1)
  await work
  expect(told.indexOf('served')).toBeGreaterThan(0)
  expect(told.indexOf('served')).toBeLessThan(4)
})

it('work may be planned while other work of its kind runs', async () => {
  const turns = new Turns()
  const told: string[] = []
  let inner: Promise<string> | null = null
  function* outer(): Steps<string> {
    inner = turns.run('commands', slow('b', 1, told))
    yield
    return 'a'
  }
  expect(await turns.run('commands', outer())).toBe('a')
  expect(await inner).toBe('b')
})

it('work that fails tells so, and what waits behind it goes on', async () => {
  const turns = new Turns()
  const told: string[] = []
  const failing = turns.run('commands', failingSteps())
  const next = turns.run('commands', slow('b', 1, told))
  await expect(failing).rejects.toThrow('no more')
  expect(await next).toBe('b')
})

it('nothing runs after a stop', async () => {
  const turns = new Turns()
  const told: string[] = []
  void turns.run('commands', slow('a', 3, told))
  turns.stop()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(told).toEqual([])
})

it('goes on when nothing else happens in the process', async () => {
  const module = new URL('../../dist/src/devnet/mempool/turns.js', import.meta.url).href
  const code = `
    const { Turns } = await import(${JSON.stringify(module)})
    function* steps() { for (let i = 0; i < 5; i++) { const end = Date.now() + 5; while (Date.now() < end); yield } }
    new Turns().run('commands', steps()).then(() => console.log('done'))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code])
  expect(stdout).toBe('done\n')
})

function* failingSteps(): Steps<never> {
  yield
  throw new Error('no more')
}
