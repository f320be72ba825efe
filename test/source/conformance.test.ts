import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import type { MinerAccount } from '../../src/core/payload.ts'
import { NodeClient } from '../../src/node/client.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { miningNodeOf } from '../../src/source/node/mining-node.ts'
import { NodeSource } from '../../src/source/node/node-source.ts'
import type { Job } from '../../src/source/source.ts'
import { type SourceTestBed, sourceConformance } from '../conformance/source.ts'
import { solve } from '../solve.ts'

const account: MinerAccount = { account: 'k:test', predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] }

/** A way to the node that takes a while, and that can be held up. */
async function startWay(port: number, latencyMs: number) {
  const sockets = new Set<Socket>()
  let isHeld = false
  let held: (() => void)[] = []
  const pass = (run: () => void) => {
    if (isHeld) held.push(run)
    else setTimeout(run, latencyMs / 2)
  }
  const forward = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.on('data', (bytes) => pass(() => to.write(bytes)))
    from.on('close', () => pass(() => to.destroy()))
    from.on('error', () => to.destroy())
  }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    forward(client, upstream)
    forward(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: () => {
      isHeld = true
      return () => {
        isHeld = false
        for (const run of held.splice(0)) run()
        held = []
      }
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

async function startBed(options: DevnetOptions, latencyMs: number): Promise<SourceTestBed> {
  const devnet = await startDevnet({ port: 0, difficulty: 20n, blockDelayMs: 1000, ...options })
  const way = await startWay(Number(new URL(devnet.url).port), latencyMs)
  const [near, far] = [await NodeClient.connect({ url: devnet.url }), await NodeClient.connect({ url: way.url })]
  const node = miningNodeOf({ client: far, account, clock: systemClock, stallMs: 0 })
  const solveElsewhere = async ({ work: { fields } }: Job) => {
    const { work } = await near.work({ ...account, account: 'k:other' }, fields.chainId)
    await near.solved(solve(work.bytes))
  }
  return {
    source: new NodeSource({ node, clock: systemClock, random: Math.random }),
    solveElsewhere,
    hang: way.hold,
    close: async () => {
      await Promise.all([near.close(), far.close()])
      way.close()
      await devnet.close()
    },
  }
}

sourceConformance('work from the embedded node', () => startBed({}, 0))
sourceConformance('work from a network of one chain', () => startBed({ graph: 'singleton' }, 0))
sourceConformance('work from a node 30 ms away, which says ledger', () => startBed({ product: 'ledger' }, 30))
