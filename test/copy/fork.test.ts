/** Forks of a network: their answers are those of the forked node. */
import { expect, it } from 'vitest'
import { exec, local, makeBlocks, ok, signers, transfer } from '../devnet/commands-common.ts'
import { jsonOf, type Started } from '../devnet/common.ts'
import { execWith, folder, inBlock, KEYSET, remoteOfFile, startFork } from './network.ts'

const remote = remoteOfFile()

/** The depth at which the forked node has the state of the pin. */
const depthOf = ({ devnet }: Started, pin: number) => Number(devnet.cut.get(0)?.height) - pin

/** The same command at both. */
async function both(remote: Started, forked: Started, command: unknown, query = '') {
  const pin = forked.devnet.fork?.pin.height ?? 0
  const [there, here] = await Promise.all([
    local(remote.peer, command, `?rewindDepth=${depthOf(remote, pin)}${query}`),
    local(forked.peer, command, `?rewindDepth=0${query}`),
  ])
  return [there, here].map(({ status, body }) => [status, body.toString()])
}

it('a fork answers read-only code exactly as the forked node does', async () => {
  await makeBlocks(remote.peer, { 0: 2 })
  const forked = await startFork(remote)
  const codes = [
    '(coin.details "sender00")',
    '(free.fork-token.balance "alice")',
    '(free.fork-token.row "bob")',
    '(free.fork-token.balance "carol")',
    '(free.fork-token.cautious "carol")',
    '(free.fork-token.either "carol")',
    '(free.fork-token.names)',
    '(free.fork-token.rich)',
    '(free.fork-token.coins "sender01")',
    'free.fork-token.OWNER',
    '(free.fork-second.twice)',
    '(free.fork-second.fails)',
    '(keys free.fork-token.unused)',
    '(list-modules)',
    '(describe-module "free.fork-second")',
    '(describe-keyset "free.known")',
    '(describe-keyset "free.unknown")',
    '(describe-namespace "free")',
    '(describe-namespace "unknown")',
    '(chain-data)',
    '(free.unknown.f 1)',
  ]
  for (const code of codes) {
    const [there, here] = await both(remote, forked, exec(code, { gasLimit: 150_000 }))
    expect(here, code).toEqual(there)
  }
})

it('the status of a fork names the forked node and its pin', async () => {
  const { devnet } = await startFork(remote)
  const answer = await fetch(`${devnet.url}/devnet/status`)
  const { requests, ...rest } = JSON.parse(await answer.text()).fork
  expect(rest).toEqual({ url: devnet.fork?.url, network: 'development', height: devnet.fork?.pin.height })
  expect(requests).toBeGreaterThan(0)
})

it('a fork preflights transactions as the forked node does, with gas and events', async () => {
  const forked = await startFork(remote)
  const move = (amount: number) =>
    exec(
      `(free.fork-token.transfer "alice" "carol" ${amount.toFixed(2)})`,
      {},
      signers(['coin.GAS'], ['free.fork-token.TRANSFER', 'alice', 'carol', amount]),
    )
  for (const command of [
    transfer('sender01', 1.5),
    move(2.25),
    move(1000),
    execWith('(free.fork-token.open "dave" (read-keyset "k"))', { k: KEYSET }),
  ]) {
    const [there, here] = await both(remote, forked, command, '&preflight=true')
    expect(here).toEqual(there)
  }
})

it('a fork makes blocks above the pin, in which transactions of both kinds succeed', async () => {
  const forked = await startFork(remote)
  const before = forked.proxy.seen.length
  const [moved, opened] = await inBlock(forked.peer, [
    transfer('sender01', 1.5),
    execWith('(free.fork-token.open "erin" (read-keyset "k"))', { k: KEYSET }),
  ])
  expect(moved.result.status).toBe('success')
  expect(opened.result.status).toBe('success')
  expect(moved.metaData.blockHeight).toBe((forked.devnet.fork?.pin.height ?? 0) + 1)
  expect(forked.proxy.seen.length - before).toBeGreaterThan(0)
  const balance = async (node: Started, name: string) =>
    (await ok(local(node.peer, exec(`(free.fork-token.cautious "${name}")`)))).result.data
  expect(await balance(forked, 'erin')).toBe(100.5)
  expect(await balance(remote, 'erin')).toBe(-1)
})

it('the second run of a fork needs no request and no node', async () => {
  const cacheFolder = folder()
  const first = await startFork(remote, { cacheFolder })
  const commands = [
    exec('(free.fork-token.rich)', { gasLimit: 150_000 }),
    exec('(coin.details "nobody")'),
    exec('(describe-keyset "free.nothing")'),
  ]
  const run = async (node: Started) =>
    Promise.all(commands.map(async (command) => jsonOf(await local(node.peer, command)).result))
  const results = await run(first)
  expect(first.proxy.seen.length).toBeGreaterThan(5)
  const second = await startFork(remote, { cacheFolder, cut: String(first.devnet.fork?.pin.height) })
  expect(await run(second)).toEqual(results)
  expect(second.proxy.seen).toEqual([])
  await second.proxy.close()
  await inBlock(second.peer, [transfer('sender01', 1)]).then(
    ([{ result }]) => expect(result.status).toBe('failure'),
    () => undefined,
  )
  expect(await run(second)).toEqual(results)
})
