/**
 * A network that only a file describes. A node is that network, a miner mines it and serves a rig, and another client
 * verifies it. Payouts pay the user of the rig, and a second node forks it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { NodeClient } from '../../src/client/node/client.ts'
import { accountOn } from '../../src/client/wallet/ask.ts'
import { readNetworkFiles } from '../../src/faces/cli/network-file.ts'
import { decodeBase64Url } from '../../src/ground/base/bytes.ts'
import { unitsOf } from '../../src/ground/base/coins.ts'
import { paymentIn } from '../../src/ground/chain/coinbase.ts'
import { definitionOf } from '../../src/ground/chain/network-form.ts'
import { readPayments } from '../../src/pool/payouts/payments.ts'
import type { PayoutReport } from '../../src/pool/payouts/report.ts'
import { run, startHere, stopAll } from '../cli/run.ts'
import { until } from '../wait.ts'
import { keyPair } from './pool-ground.ts'

const FILE = fileURLToPath(new URL('../fixtures/quad.yaml', import.meta.url))
const [definition] = readNetworkFiles([FILE]).map(definitionOf)
const file = ['--network-file', FILE]
const quiet = ['--gpu', 'none', '--log', 'json']
const [pool, user] = [keyPair(0xf1), keyPair(0xf2)]

afterEach(stopAll)

async function startNode(...options: string[]): Promise<string> {
  const node = startHere(['devnet', '--port', '0', ...file, ...options])
  return (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)/))[1]
}

async function connect(url: string): Promise<NodeClient> {
  const client = await NodeClient.connect({ url, networks: [definition] })
  onTestFinished(() => client.close())
  return client
}

const order = (url: string, path: string, body: unknown) =>
  fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

it('a network of a file is mined, verified, served to a rig, paid out and forked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-quad-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [state, keyFile] = [join(folder, 'state'), join(folder, 'pool.key')]
  mkdirSync(state)
  writeFileSync(keyFile, `# secret-key: ${pool.secret}\n`, { mode: 0o600 })
  const url = await startNode()
  const client = await connect(url)

  const own = ['--threads', '0', '--stratum-listen', '127.0.0.1:0', '--stratum-difficulty', '65536']
  const storage = ['--state', state, '--http', '127.0.0.1:0', '--account', pool.account]
  const miner = startHere(['mine', '--node', url, ...file, ...own, ...storage, ...quiet])
  const [, port] = await miner.sees(/stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
  const rigUrl = `stratum+tcp://${user.account}.rig@127.0.0.1:${port}`
  const rig = startHere(['mine', '--pool', rigUrl, '--threads', '1', '--http', 'off', ...quiet])
  // Targets change at height 6, and the language too.
  await until(async () => Object.values((await client.cut()).hashes).every(({ height }) => height >= 8))
  await rig.stop()
  await miner.stop()

  const { hashes } = await client.cut()
  for (const [chain, { hash }] of Object.entries(hashes)) {
    await client.header(Number(chain), hash, { verify: true })
  }
  const header = await client.header(0, hashes[0].hash)
  const { coinbase } = await client.payloadOutputs(0, header.payloadHash, { height: hashes[0].height })
  const text = new TextDecoder().decode(decodeBase64Url(coinbase))
  expect(paymentIn(text, definition.payment)).toEqual({ account: pool.account, amount: '2.5' })

  const rules = ['--node', url, ...file, '--state', state, '--confirmations', '2', '--scheme', 'pplns']
  const looked = await run(['payouts', ...rules, '--account', pool.account, '--json'])
  expect(looked.err).toBe('')
  expect(looked.code).toBe(0)
  const { balances, blocks } = JSON.parse(looked.out) as PayoutReport
  expect(blocks.some(({ state: found, reward }) => found === 'credited' && reward !== null)).toBe(true)
  expect(balances.map(({ account }) => account)).toContain(user.account)
  let isOver = false
  const paying = run(['payouts', ...rules, '--pay', '--key', keyFile]).finally(() => {
    isOver = true
  })
  await until(async () => {
    if (!isOver) await order(url, 'make-blocks', { 0: 1, 1: 1, 2: 1, 3: 1 })
    return isOver
  })
  const { code, err } = await paying
  expect(code === 0 ? '' : err).toBe('')
  expect(code).toBe(0)
  const balanceOn = async (node: NodeClient, chain: number) => {
    const details = await accountOn(node, chain, user.account)
    return details && unitsOf(details.balance.toString())
  }
  for (const { chain, account, amount } of balances) {
    if (account === user.account) expect(await balanceOn(client, chain)).toBe(unitsOf(amount))
  }
  expect(readPayments(state).every((payment) => payment.state === 'paid')).toBe(true)

  const lowest = Math.min(...Object.values((await client.cut()).hashes).map(({ height }) => height))
  const cut = ['--fork-cut', String(lowest), '--fork-cache', join(folder, 'cache')]
  const forkedUrl = await startNode('--fork', url, '--network', 'quad', ...cut)
  const forked = await connect(forkedUrl)
  const { chain } = balances[0]
  expect(await balanceOn(forked, chain)).toBe(await balanceOn(client, chain))
  expect((await order(forkedUrl, 'make-blocks', { 0: 2 })).status).toBe(200)
  const head = (await forked.cut()).hashes[0]
  const next = await forked.header(0, head.hash)
  const paid = await forked.payloadOutputs(0, next.payloadHash, { height: head.height })
  const said = new TextDecoder().decode(decodeBase64Url(paid.coinbase))
  expect(next.version).toBe(4660)
  expect(paymentIn(said, definition.payment)?.amount).toBe('2.5')
})
