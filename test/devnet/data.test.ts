import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { ClassicLevel } from 'classic-level'
import { afterEach, describe, expect, it } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { writeCopy } from '../../src/devnet/data/copy.ts'
import { openDataDirectory } from '../../src/devnet/data/directory.ts'
import { stateSnapshotOf } from '../../src/devnet/data/records.ts'
import type { Chains } from '../../src/devnet/rules/chains.ts'
import { settingsOf } from '../../src/devnet/rules/settings.ts'
import type { NewcutError } from '../../src/ground/base/errors.ts'
import { childEnv } from '../children.ts'
import { run, startHere, stopAll } from '../cli/run.ts'
import { until } from '../wait.ts'
import { checkNode } from './checker.ts'
import { jsonOf, PREFIX, start } from './common.ts'
import { executingChains } from './ground.ts'
import { fork, grow, temporaryDirectory } from './grow.ts'
import { getWork, mineBlock, submit, targetOf } from './miner.ts'
import { Peer } from './request.ts'
import { startDevnet } from './whole-node.ts'

afterEach(stopAll)

const small = { graph: 'petersen', pow: false } as const
const quiet = { asked: {}, onFailure: () => undefined, onNotice: () => undefined }

async function everything(peer: Peer, chains: number): Promise<unknown> {
  const { hashes, weight } = jsonOf(await peer.get(`${PREFIX}/cut`))
  const pages = []
  for (let chain = 0; chain < chains; chain++) pages.push(jsonOf(await peer.get(`${PREFIX}/chain/${chain}/header`)))
  return { hashes, weight, pages }
}

describe('a network on disk', () => {
  it('a network on disk continues after a restart with the same blocks and its own settings', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startDevnet({ port: 0, dataDir, graph: 'petersen', difficulty: 20n, blockDelayMs: 200 })
    const peer = new Peer(first.url)
    for (let i = 0; i < 30; i++) await mineBlock(peer)
    const before = await everything(peer, 10)
    peer.close()
    await first.close()
    const again = await start({ dataDir, difficulty: undefined })
    expect(await everything(again.peer, 10)).toEqual(before)
    expect(again.devnet.settings).toEqual({
      release: '3.2',
      forkEpoch: 14_280,
      graph: 'petersen',
      difficulty: 20n,
      blockDelayMs: 200,
      pow: true,
      adjusts: true,
      autoMine: null,
    })
    expect(jsonOf(await again.peer.get('/info')).nodeBlockDelay).toBe(200_000)
    for (let i = 0; i < 30; i++) await mineBlock(again.peer)
    const { headers, violations } = await checkNode({ url: again.devnet.url })
    expect({ headers, violations }).toEqual({ headers: 70, violations: [] })
    for (const { payload } of again.devnet.chains.store.slice(3, 0, 10)) expect(payload.minerData).toBeDefined()
  })

  it('a network on disk keeps orphans, an adopted branch, and changed rules', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startDevnet({ port: 0, dataDir, ...small, graph: 'pair' })
    const { chains } = first
    grow(first, 10)
    const early = new Map(chains.cut)
    grow(first, 10)
    expect(chains.adopt(fork(first, early, 6))).toBe(false)
    chains.changeRules({ target: 2n ** 200n })
    grow(first, 2)
    const heavier = fork(first, new Map(chains.cut), 4)
    grow(first, 2)
    const lost = [...chains.cut.values()].map(({ hash }) => hash)
    expect(chains.adopt(heavier)).toBe(true)
    chains.changeRules({ target: 2n ** 190n, blockDelay: 7_000_000n })
    const heads = [...chains.cut.values()].map(({ hash }) => Buffer.from(hash))
    const size = chains.store.size
    await first.close()
    const again = await start({ dataDir, difficulty: undefined })
    expect(again.devnet.chains.store.size).toBe(size)
    expect([...again.devnet.chains.cut.values()].map(({ hash }) => Buffer.from(hash))).toEqual(heads)
    expect(lost.every((hash) => again.devnet.chains.store.get(hash) !== undefined)).toBe(true)
    expect(again.devnet.chains.rules.changes).toHaveLength(2)
    expect(again.devnet.chains.network.blockDelay).toBe(7_000_000n)
    expect(targetOf(await getWork(again.peer, 0))).toBe(2n ** 190n)
    await again.devnet.close()
    const { blocks, orphans, findings } = await checkDataDirectory(dataDir)
    expect({ blocks, orphans, findings }).toEqual({ blocks: size, orphans: 8, findings: [] })
  })

  it('a network on disk judges orphans by the rules at the time when they were added', async () => {
    const dataDir = await temporaryDirectory()
    const devnet = await startDevnet({ port: 0, dataDir, ...small, graph: 'singleton' })
    const { chains } = devnet
    grow(devnet, 3)
    fork(devnet, new Map(chains.cut), 2)
    chains.changeRules({ target: 2n ** 199n })
    grow(devnet, 2)
    await devnet.close()
    expect(await checkDataDirectory(dataDir)).toMatchObject({ blocks: 8, orphans: 2, findings: [] })
  })

  it('a network on disk answers a miner only when the block is written, and with an error if it cannot be written', async () => {
    const dataDir = await temporaryDirectory()
    const { devnet, peer } = await start({ dataDir, ...small })
    const { chains } = devnet
    const durable = chains.durable.bind(chains)
    let write: (failure?: Error) => void = () => expect.fail('nobody waits')
    chains.durable = () =>
      new Promise((resolve, reject) => (write = (failure) => (failure ? reject(failure) : resolve())))
    let answered = 0
    const count = ({ status }: { status: number }) => (answered = status)
    const first = submit(peer, await getWork(peer, 0)).then(count)
    await until(() => chains.store.size === 11)
    // The node answers later requests meanwhile.
    const other = new Peer(devnet.url)
    for (let i = 0; i < 3; i++) await other.get('/info')
    other.close()
    expect(answered).toBe(0)
    write()
    expect(await first).toBe(200)
    const second = submit(peer, await getWork(peer, 1)).then(count)
    await until(() => chains.store.size === 12)
    write(new Error('disk full'))
    expect(await second).toBe(500)
    // Durable blocks survive even if the process ends now.
    grow(devnet, 100)
    await durable()
    const copy = join(await temporaryDirectory(), 'copy')
    await cp(dataDir, copy, { recursive: true })
    expect(await checkDataDirectory(copy)).toMatchObject({ blocks: 112, findings: [] })
  })

  it('a network on disk accepts only as many blocks as can wait to be written', async () => {
    const options = { ...quiet, asked: small, maxUnwrittenBlocks: 20 }
    const data = await openDataDirectory(await temporaryDirectory(), options)
    const { store } = data.loaded
    for (let i = 0; i <= 20; i++) {
      const bytes = randomBytes(318)
      store.insertHeader(bytes, { hash: bytes.subarray(-32), parent: bytes.subarray(16, 48), chainId: 0, height: 1n })
    }
    data.blocks.expectRoom()
    data.blocks.noteChange(data.loaded)
    expect(() => data.blocks.expectRoom()).toThrow('21 blocks wait to be written; at most 20 may')
    await data.blocks.durable()
    data.blocks.expectRoom()
    await data.close()
  })

  it('a network on disk has a clock that is never earlier than its blocks', async () => {
    const directory = await temporaryDirectory()
    const settings = settingsOf({ ...small, graph: 'pair' })
    let now = BigInt(Date.now() + 3_600_000) * 1000n
    const ahead = executingChains(settings, () => now++)
    grow(ahead, 4)
    await writeCopy(join(directory, 'blocks'), settings, stateSnapshotOf(ahead.chains.state))
    const { devnet, peer, additions } = await startUnchecked(directory)
    const work = await getWork(peer, 0)
    expect(work.readBigInt64LE(8)).toBeGreaterThan(now - 2n)
    expect((await submit(peer, work)).status).toBe(200)
    expect(additions).toEqual([expect.objectContaining({ status: 'added' })])
    expect(devnet.chains.store.size).toBe(7)
  })

  /** Like `start`, for a node whose clock differs from the machine's: the peer checks no timestamps. */
  async function startUnchecked(dataDir: string) {
    const { devnet, additions } = await start({ dataDir, difficulty: undefined })
    return { devnet, additions, peer: new Peer(devnet.url) }
  }
})

describe('a node', () => {
  const refused = async (task: Promise<unknown>): Promise<string> => {
    const error = await task.then(
      () => expect.fail('it was used'),
      (error: NewcutError) => error,
    )
    expect(error).toMatchObject({ code: 'DATA_UNUSABLE', hint: expect.stringMatching(/./) })
    return error.message
  }

  it('a node refuses a directory with another network than requested; every setting is compared', async () => {
    const dataDir = await temporaryDirectory()
    await (await startDevnet({ port: 0, dataDir, graph: 'pair', difficulty: 5n })).close()
    const open = (asked: object) => refused(startDevnet({ port: 0, dataDir, ...asked }))
    expect(await open({ graph: 'twenty' })).toBe(`${dataDir}: its network has graph pair, not graph twenty`)
    expect(await open({ blockDelayMs: 1000 })).toContain('has block delay 30 s, not block delay 1 s')
    expect(await open({ difficulty: 6n })).toContain('has difficulty 5, not difficulty 6')
    expect(await open({ pow: false })).toContain('has proof of work, not no proof of work')
    await (
      await startDevnet({ port: 0, dataDir, graph: 'pair', difficulty: 5n, blockDelayMs: 30_000, pow: true })
    ).close()
    const command = await run(['devnet', '--port', '0', '--data', dataDir, '--graph', 'petersen'])
    expect(command.code).toBe(25)
    expect(command.err).toMatch(
      /^newcut: .*: its network has graph pair, not graph petersen \(.+\) \[DATA_UNUSABLE\]\n$/,
    )
  })

  it('a node refuses a directory that is in use, holds other files, is a file, or cannot be made', async () => {
    const directory = await temporaryDirectory()
    const { devnet } = await start({ dataDir: join(directory, 'a', 'b'), graph: 'pair' })
    expect(await refused(startDevnet({ port: 0, dataDir: join(directory, 'a', 'b') }))).toContain('in use by another')
    expect(await refused(checkDataDirectory(join(directory, 'a', 'b')))).toContain('in use by another process')
    await devnet.close()
    await refused(startDevnet({ port: 0, dataDir: join(directory, 'a') })).then((message) => {
      expect(message).toBe(`${join(directory, 'a')}: not a data directory: it holds b but no blocks`)
    })
    await writeFile(join(directory, 'file'), '')
    expect(await refused(startDevnet({ port: 0, dataDir: join(directory, 'file') }))).toContain('not a directory')
    expect(await refused(startDevnet({ port: 0, dataDir: join(directory, 'file', 'x') }))).toContain('not a directory')
    expect(await refused(startDevnet({ port: 0, dataDir: '/proc/newcut' }))).toContain(
      'cannot be used as a data directory',
    )
    await mkdir(join(directory, 'c', 'blocks'), { recursive: true })
    expect(await refused(startDevnet({ port: 0, dataDir: join(directory, 'c') }))).toContain('no file CURRENT')
  })

  it('a node refuses a database of another format or of something else', async () => {
    const directory = await temporaryDirectory()
    const database = new ClassicLevel<string, Uint8Array>(join(directory, 'blocks'), { valueEncoding: 'view' })
    await database.open()
    await database.close()
    expect(await refused(startDevnet({ port: 0, dataDir: directory }))).toContain('not one of a newcut network')
    for (const format of [1, 3]) {
      await database.open()
      await database.put('network', sealed(JSON.stringify({ format })))
      await database.close()
      expect(await refused(startDevnet({ port: 0, dataDir: directory }))).toContain(
        `format ${format}; this newcut reads format 2`,
      )
    }
  })

  it('a node refuses a database with one flipped bit', async () => {
    const directory = await temporaryDirectory()
    const devnet = await startDevnet({ port: 0, dataDir: directory, ...small, graph: 'pair' })
    grow(devnet, 4)
    const { payloadHash } = devnet.chains.store.at(3).header
    await devnet.close()
    const database = new ClassicLevel<string, Uint8Array>(join(directory, 'blocks'), { valueEncoding: 'view' })
    const flip = async (key: string, at: number) => {
      const value = (await database.get(key)) ?? new Uint8Array()
      value[at] ^= 1
      await database.put(key, value)
      await database.close()
    }
    const payloadKey = `payload/${Buffer.from(payloadHash).toString('base64url')}`
    await flip(payloadKey, 120)
    const again = await startDevnet({ port: 0, dataDir: directory })
    expect(() => again.chains.store.at(3).payload).toThrow(`damaged: the record ${payloadKey} has a wrong checksum`)
    await again.close()
    // A byte of the nonce: the rest of the header, its hash included, stays the same.
    await database.open()
    await flip('block/0000000003', 240)
    expect(await refused(startDevnet({ port: 0, dataDir: directory }))).toContain('block/0000000003: a wrong checksum')
  })

  it('a node starts again in a directory with an interrupted start', async () => {
    const directory = await temporaryDirectory()
    const database = new ClassicLevel(join(directory, 'blocks.new'))
    await database.put('block/0000000000', 'anything')
    await database.close()
    const { devnet } = await start({ dataDir: directory, graph: 'pair' })
    expect(devnet.chains.store.size).toBe(2)
  })

  it('a node stops if it can no longer write, and keeps what it acknowledged', async () => {
    const dataDir = await temporaryDirectory()
    const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
    // `ulimit -f 256` limits files to 256 blocks of 512 bytes; larger writes fail as on a full disk.
    const script = 'ulimit -f 256; exec "$0" "$@"'
    const args = ['-c', script, process.execPath, main, 'devnet', '--port', '0', '--no-pow', '--data', dataDir]
    const child = spawn('/bin/sh', [...args, '--graph', 'pair'], { env: childEnv })
    let out = ''
    let err = ''
    child.stdout.on('data', (bytes) => {
      out += bytes
    })
    child.stderr.on('data', (bytes) => {
      err += bytes
    })
    const ended = new Promise((resolve) => child.on('close', resolve))
    await until(() => / at http/.test(out) || child.exitCode !== null)
    const peer = new Peer(/http:\/\/[\d.:]+/.exec(out)?.[0] ?? '')
    let acknowledged = 0
    let refusal = ''
    while (acknowledged < 1000) {
      const answer = await submit(peer, await getWork(peer)).catch(() => null)
      if (answer?.status !== 200) {
        refusal = `${answer?.body}`
        break
      }
      acknowledged++
    }
    peer.close()
    expect(acknowledged).toBeGreaterThan(5)
    expect(acknowledged).toBeLessThan(1000)
    expect(refusal).toMatch(/blocks: cannot be written/)
    expect(await ended).toBe(25)
    expect(err).toMatch(/^newcut: .*blocks: cannot be written: IO error: .* \(.*make room.*\) \[DATA_UNUSABLE\]\n$/)
    const report = await checkDataDirectory(dataDir)
    expect(report.blocks).toBeGreaterThanOrEqual(acknowledged + 2)
    expect(report.findings).toEqual([])
  })
})

describe('--check', () => {
  const settings = settingsOf({ ...small, graph: 'pair' })

  async function directoryOf(chains: Chains, as = settings): Promise<string> {
    const directory = await temporaryDirectory()
    await writeCopy(join(directory, 'blocks'), as, stateSnapshotOf(chains.state))
    return directory
  }

  function someChains(count: number): Chains {
    let now = BigInt(Date.now()) * 1000n
    const ground = executingChains(settings, () => now++)
    grow(ground, count)
    return ground.chains
  }

  it('the option check prints what a sound directory holds, and exits 0', async () => {
    const directory = await directoryOf(someChains(20))
    const { code, out, err } = await run(['devnet', '--data', directory, '--check'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(
      `${directory}: pair network, 22 blocks (0 orphans), 20 transactions, no state database\nnothing is wrong\n`,
    )
    expect(await run(['devnet', '--check'])).toMatchObject({ code: 2, err: expect.stringContaining('BAD_OPTION') })
  })

  it('the option check finds broken rules: proof of work, and targets that should have changed', async () => {
    const chains = someChains(30)
    const directory = await directoryOf(chains, { ...settings, pow: true, adjusts: true })
    const { code, out } = await run(['devnet', '--data', directory, '--check'])
    expect(code).toBe(1)
    expect(out).toContain('breaks the rule of proofOfWork')
    expect(out).toMatch(/height 12, block [\w-]{43}: breaks the rule of proofOfWork, target/)
    expect(out).toMatch(/\n\d+ things are wrong\n$/)
  })

  it('the option check finds an exchanged payload and a missing one', async () => {
    const chains = someChains(6)
    const directory = await directoryOf(chains)
    const [first, second] = [chains.store.at(4), chains.store.at(5)]
    const keyOf = (block: typeof first) => `payload/${Buffer.from(block.header.payloadHash).toString('base64url')}`
    const database = new ClassicLevel<string, Uint8Array>(join(directory, 'blocks'), { valueEncoding: 'view' })
    const record = Buffer.from((await database.get(keyOf(first))) ?? [])
    const at = record.indexOf('a11ce')
    record.write('b0bby', at)
    await database.put(keyOf(first), sealed(record.subarray(0, -4)))
    await database.del(keyOf(second))
    await database.close()
    const { findings } = await checkDataDirectory(directory)
    // The blocks on top of these two cannot be executed, which is not reported separately.
    expect(findings).toHaveLength(4)
    expect(findings[0]).toContain(`block ${first.id}: its payload has another hash`)
    expect(findings[1]).toContain(`block ${first.id}: its payload names wrong hashes`)
    expect(findings[2]).toContain(`block ${first.id}: does not execute as it did: the output of its reward is another`)
    expect(findings[3]).toContain(`block ${second.id}: block ${second.id} has no payload`)
  })
})

it('newcut devnet names the directory, and ends cleanly', async () => {
  const dataDir = join(await temporaryDirectory(), 'data')
  for (const blocks of [2, 3]) {
    const node = startHere([
      'devnet',
      '--port',
      '0',
      '--no-pow',
      ...(blocks === 2 ? ['--graph', 'pair'] : []),
      '--data',
      dataDir,
    ])
    const [, url] = await node.sees(/2 chains.* at (http:\/\/127\.0\.0\.1:\d+)/)
    await node.sees(new RegExp(`data: ${dataDir}, ${blocks} blocks`))
    const peer = new Peer(url)
    await submit(peer, await getWork(peer))
    peer.close()
    expect(await node.stop()).toMatchObject({ code: 0, err: '' })
  }
})

function sealed(value: string | Uint8Array): Uint8Array {
  const seal = Buffer.alloc(4)
  seal.writeUInt32LE(crc32(value))
  return Buffer.concat([Buffer.from(value as string), seal])
}
