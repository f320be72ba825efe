/** A miner with several nodes. `nodes-all.test.ts` has more cases. */
import { expect, it } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { decodeWorkResponse, type Work } from '../../src/ground/chain/work.ts'
import { solve } from '../solve.ts'
import { until } from '../wait.ts'
import { gate, miner, network } from './several-nodes.ts'

/** The account of a visitor of the page. */
const VISITOR = JSON.stringify({ account: 'visitor', predicate: 'keys-all', 'public-keys': ['ab'.repeat(32)] })

it('a miner with two nodes fails over to the second node when the first accepts connections and answers nothing', async () => {
  const port = await network()
  const [a, b] = [await gate(port), await gate(port)]
  const mining = miner([a.url, b.url])
  await mining.blockAt(a)
  const hung = mining.events.length
  a.hang()
  const switched = await mining.workFrom(b, hung)
  await mining.blockAt(b, mining.events.indexOf(switched))
})

it('a miner with --fail-fast ends with an error if no node answers at the start, but not if one does', async () => {
  const port = await network()
  const [a, b] = [await gate(port, false), await gate(port, false)]
  const source = { failFast: true }
  await expect(miner([a.url, b.url], { source }).ended).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' })
  await b.open()
  const mining = miner([a.url, b.url], { source, limits: { blocks: 1 } })
  expect((await mining.ended).solutions.accepted).toBe(1)
})

it('a miner with several nodes refuses nodes of different networks, and the same node twice', async () => {
  const [a, b] = [await gate(await network()), await gate(await network({ graph: 'petersen' }))]
  await expect(miner([a.url, b.url]).ended).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: `\`node\`: nodes of different networks: ${a.url} is of development (2 chains), ${b.url} is of development (10 chains)`,
  })
  await expect(miner([a.url, `${a.url}/`]).ended).rejects.toMatchObject({ code: 'BAD_OPTION' })
})

it('a miner with two nodes does not copy blocks to other nodes if that is disabled', async () => {
  const ports = [await network(), await network()]
  const [a, b] = [await gate(ports[0]), await gate(ports[1])]
  const mining = miner([a.url, b.url], { source: { shareBlocks: false }, limits: { blocks: 3 } })
  await mining.ended
  // On a busy machine the miner may have mined for the second node for a while.
  const own = mining.events.filter((event) => event.type === 'solution' && event.issuer === b.url)
  const client = await NodeClient.connect({ url: b.url })
  expect((await client.cut()).height).toBeLessThanOrEqual(own.length)
  await client.close()
})

it('a miner with two nodes gives the mining page work of the second node when the first goes down, and accepts solutions for both', async () => {
  const port = await network()
  const [a, b] = [await gate(port), await gate(port)]
  const mining = miner([a.url, b.url], { source: { page: 'on' } })
  await mining.workFrom(a)
  mining.pause()
  const ask = () => mining.page('work', VISITOR)
  /** On a busy machine work may be missing for a moment. */
  const work = async (): Promise<Work> => {
    for (;;) {
      const answer = await ask()
      if (answer.status === 200) return decodeWorkResponse(new Uint8Array(await answer.arrayBuffer()))
      expect(answer.status).toBe(503)
    }
  }
  const handIn = async (bytes: Uint8Array) => {
    const answer = await mining.page('solved', Buffer.from(solve(bytes)))
    return (await answer.json()) as { readonly verdict: string }
  }
  // Solutions that the engines found before the pause may still arrive first.
  while ((await handIn((await work()).bytes)).verdict !== 'accepted');
  const active = async () => (await mining.summary()).nodes.find((node) => node.active)?.url
  // On a busy machine the first node may have been given up for a moment, so find the one that serves the page.
  let node: string | undefined
  let first: Work
  let updates: ReadableStreamDefaultReader | undefined
  do {
    node = await active()
    first = await work()
    updates = (await mining.page(`updates?chain=${first.fields.chainId}`)).body?.getReader()
  } while (node === undefined || (await active()) !== node)
  await (node === b.url ? b : a).shut()
  await until(async () => (await ask()).status === 200)
  // The page reopens its stream at the node that now gives work.
  for (let isOver = false; !isOver; ) isOver = (await updates?.read())?.done ?? true
  // Only the first node knows the payload; here the same node is behind both addresses.
  expect(await handIn(first.bytes)).toMatchObject({ verdict: 'accepted', chain: first.fields.chainId })
  expect(await handIn((await work()).bytes)).toMatchObject({ verdict: 'accepted' })
})
