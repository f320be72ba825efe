/** Lists of chains that grow while a client reads them, and a process that ends when its client is closed. */
import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { devnet } from './mined.ts'

async function growing() {
  const { node, client } = await devnet({ graph: 'singleton', pow: false, autoMine: { kind: 'on-demand' } })
  const grow = async (count: number) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${node.url}/make-blocks`, { method: 'POST', headers, body: `{"0":${count}}` })
    expect(await answer.json()).toMatchObject({ made: { 0: count } })
  }
  return { node, client, grow }
}

it('pages read while blocks are added have every block once', async () => {
  const { client, grow } = await growing()
  await grow(5)
  const heights: bigint[] = []
  for await (const { height } of client.headers(0, { limit: 1 })) {
    heights.push(height)
    if (height === 2n || height === 4n) await grow(2)
  }
  expect(heights).toEqual([...Array(10).keys()].map(BigInt))
})

it('the cursor of the last page leads to the blocks added since', async () => {
  const { client, grow } = await growing()
  await grow(3)
  const list = client.headers(0, { limit: 3 })
  let from: string | undefined
  const poll = async () => {
    const heights: number[] = []
    for await (const { items, next } of list.pages(from === undefined ? {} : { from })) {
      heights.push(...items.map(({ height }) => Number(height)))
      from = next ?? from
    }
    return heights
  }
  expect(await poll()).toEqual([0, 1, 2, 3])
  expect(await poll()).toEqual([])
  expect(await poll()).toEqual([])
  await grow(5)
  expect(await poll()).toEqual([4, 5, 6, 7, 8])
})

it('a page of limit 0 is empty, and its cursor starts the list', async () => {
  const { client, grow } = await growing()
  await grow(1)
  const empty = await client.hashes(0, { limit: 0 }).page()
  expect(empty).toEqual({ items: [], limit: 0, next: expect.stringMatching(/^inclusive:/) })
  const all = await client.hashes(0).all()
  expect((await client.hashes(0).page(empty.next)).items).toEqual(all)
  expect(all).toHaveLength(2)
})

// A leftover timer of 24 days would keep the process running.
it('a process ends once its client is closed, with streams left open', async () => {
  const { client } = await growing()
  const dist = new URL('../../dist/src/client/node/', import.meta.url)
  const script = `
    import { NodeClient } from '${new URL('client.js', dist)}'
    import { MAX_TIMEOUT_MS } from '${new URL('http.js', dist)}'
    import { machineClock } from '${new URL('machine-clock.js', dist)}'
    const clock = { ...machineClock, after: (_, run) => machineClock.after(MAX_TIMEOUT_MS, run) }
    const client = await NodeClient.connect({ url: '${client.http.baseUrl}', clock })
    const reasons = []
    const opened = new Promise((resolve) => client.updates(0, { onNewCut: () => 0, onOpen: resolve, stallMs: 60_000,
      onError: ({ reason }) => reasons.push(reason), clock, signal: new AbortController().signal }))
    const read = client.headerUpdates({ stallMs: 60_000 })[Symbol.asyncIterator]().next()
      .catch(({ reason }) => reasons.push(reason))
    await opened
    await client.close()
    await read
    process.on('exit', () => console.log(reasons.join()))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (bytes) => {
    output += bytes
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ output, code }).toEqual({ output: 'closed,closed\n', code: 0 })
})
