import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { type MinerStart, receiversOf, runMiner } from '../../src/compose/miner.ts'
import type { Payee } from '../../src/compose/payee.ts'
import type { MinerSetup, NodesSetup } from '../../src/compose/setup.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'

let devnet: Devnet
let taken: Server
beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', difficulty: 100n })
  taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  taken.close()
  await devnet.close()
})

const nobody: Payee = { account: null, predicate: 'keys-all', publicKeys: null }
const sourceAt = (url: string, payee = nobody): NodesSetup => {
  return { kind: 'nodes', urls: [url], trust: { insecure: false }, failFast: true, payee }
}

function setup(changes: Partial<Pick<MinerSetup, 'http'>> & { readonly source?: NodesSetup } = {}): MinerSetup {
  return {
    source: sourceAt(devnet.url),
    search: { kind: 'own', threads: 1, kernel: 'js', priority: 'normal', gpu: null },
    http: null,
    limits: { blocks: 2 },
    ...changes,
  }
}

const busyHttp = (isRequired: boolean) => {
  return { host: '127.0.0.1', port: (taken.address() as AddressInfo).port, isRequired }
}
const stopped = new AbortController().signal

it('runMiner mines until its limit, and reports at the start who is paid', async () => {
  const starts: MinerStart[] = []
  const events: MinerEvent[] = []
  const ports = { onEvent: (event: MinerEvent) => void events.push(event), stopped }
  const snapshot = await runMiner(setup(), { ...ports, onStart: (start) => void starts.push(start) })
  expect(snapshot.solutions.accepted).toBe(2)
  expect(starts).toMatchObject([{ node: { account: { isBuiltIn: true } }, api: null }])
  expect(events.filter(({ type }) => type === 'ready')).toHaveLength(1)
})

it('runMiner serves on the next free port, with a warning, if its port is in use and not required', async () => {
  const http = busyHttp(false)
  const events: MinerEvent[] = []
  const starts: MinerStart[] = []
  const onEvent = (event: MinerEvent) => void events.push(event)
  await runMiner(setup({ http }), { onEvent, onStart: (start) => void starts.push(start), stopped })
  const [{ api }] = starts
  const served = Number(new URL(api?.url ?? '').port)
  expect(served).toBeGreaterThan(http.port)
  expect(served).toBeLessThan(http.port + 10)
  const message = `port ${http.port} is taken: the dashboard is at ${api?.url}/`
  expect(events).toContainEqual({ type: 'warning', message })
})

it('runMiner mines without metrics, with a warning, if it may not listen on any of the ports', async () => {
  const events: MinerEvent[] = []
  const ports = { onEvent: (event: MinerEvent) => void events.push(event), stopped }
  // An address for documentation (RFC 5737), which no machine has.
  const snapshot = await runMiner(setup({ http: { ...busyHttp(false), host: '192.0.2.1' } }), ports)
  expect(snapshot.solutions.accepted).toBe(2)
  expect(events).toContainEqual({ type: 'warning', message: expect.stringContaining('mining without metrics') })
})

it('runMiner refuses to start if a required metrics port is in use', async () => {
  const mining = runMiner(setup({ http: busyHttp(true) }), { onEvent: () => undefined, stopped })
  await expect(mining).rejects.toMatchObject({ code: 'PORT_BUSY' })
})

it('runMiner refuses an invalid account before any request to the node', async () => {
  const payee = { account: 'k:short', predicate: 'keys-all', publicKeys: null }
  const source = sourceAt('http://127.0.0.1:1', payee)
  const mining = runMiner(setup({ source }), { onEvent: () => undefined, stopped })
  await expect(mining).rejects.toMatchObject({ code: 'BAD_OPTION' })
})

it('runMiner keeps a journal on a development network only on request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-state-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const journals: MinerStart['journal'][] = []
  for (const isRequired of [true, false]) {
    const source = { ...sourceAt(devnet.url), state: { folder, isRequired } }
    const onStart = ({ journal }: MinerStart) => void journals.push(journal)
    await runMiner(setup({ source }), { onEvent: () => undefined, stopped, onStart })
  }
  expect(journals).toEqual([{ folder, unfinished: 0 }, null])
})

it('the journal gets an event before the leader of a fleet, which acknowledges it, and rewards come last', () => {
  const heard: string[] = []
  const hear = (who: string) => () => void heard.push(who)
  const record = { onEvent: hear('journal'), onConfirmed: hear('rewards') }
  const others = {
    search: { onEvent: hear('leader') },
    servers: { onEvent: hear('servers') },
    onEvent: hear('console'),
  }
  for (const receive of receiversOf({ record, ...others })) receive({ type: 'idle' })
  expect(heard).toEqual(['journal', 'console', 'leader', 'servers', 'rewards'])
})
