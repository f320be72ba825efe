import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { TimeSlicer, type YieldingWork } from '../../src/devnet/time-slicer.ts'

const run = promisify(execFile)

/** A time slicer whose time passes only with the steps of the work; each step takes longer than a slice. */
function slowTurns() {
  let nowMs = 0
  const turns = new TimeSlicer(() => nowMs)
  const told: string[] = []
  function* slow(name: string, steps: number): YieldingWork<string> {
    for (let step = 1; step <= steps; step++) {
      nowMs += 5
      told.push(`${name}${step}`)
      yield
    }
    return name
  }
  return { turns, told, slow }
}

it('the time slicer alternates between kinds of work, and between the works of one kind', async () => {
  const { turns, told, slow } = slowTurns()
  const works = [
    turns.run('commands', slow('a', 2)),
    turns.run('commands', slow('b', 2)),
    turns.run('blocks', slow('c', 3)),
  ]
  expect(await Promise.all(works)).toEqual(['a', 'b', 'c'])
  expect(told).toEqual(['a1', 'c1', 'b1', 'c2', 'a2', 'c3', 'b2'])
})

it('a request during long work is answered before the work ends', async () => {
  const server = createServer((_request, response) => response.end('served'))
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { turns, slow } = slowTurns()
  let isAnswered = false
  function* work(): YieldingWork<boolean> {
    get({ port, agent: false }, (response) => {
      response.resume()
      isAnswered = true
    })
    // On any machine one request needs far fewer turns. Client and server run in the same turns.
    for (let i = 0; i < 100_000 && !isAnswered; i++) yield* slow('a', 1)
    return isAnswered
  }
  expect(await turns.run('commands', work())).toBe(true)
})

it('the time slicer accepts work while other work of its kind runs', async () => {
  const { turns, slow } = slowTurns()
  let inner: Promise<string> | null = null
  function* outer(): YieldingWork<string> {
    inner = turns.run('commands', slow('b', 1))
    yield
    return 'a'
  }
  expect(await turns.run('commands', outer())).toBe('a')
  expect(await inner).toBe('b')
})

it('failed work rejects, and the work after it continues', async () => {
  const { turns, slow } = slowTurns()
  const failing = turns.run('commands', failingSteps())
  const next = turns.run('commands', slow('b', 1))
  await expect(failing).rejects.toThrow('no more')
  expect(await next).toBe('b')
})

it('nothing runs after a stop', async () => {
  const { turns, told, slow } = slowTurns()
  void turns.run('commands', slow('a', 3))
  turns.stop()
  // Work that was planned later would run later.
  await turn()
  await turn()
  expect(told).toEqual([])
})

it('the time slicer continues if nothing else happens in the process', async () => {
  const module = new URL('../../dist/src/devnet/time-slicer.js', import.meta.url).href
  const code = `
    const { TimeSlicer } = await import(${JSON.stringify(module)})
    let nowMs = 0
    function* steps() { for (let i = 0; i < 5; i++) { nowMs += 5; yield } }
    new TimeSlicer(() => nowMs).run('commands', steps()).then(() => console.log('done'))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code])
  expect(stdout).toBe('done\n')
})

function* failingSteps(): YieldingWork<never> {
  yield
  throw new Error('no more')
}
