import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { writeCopy } from '../../src/devnet/data/copy.ts'
import { stateSnapshotOf } from '../../src/devnet/data/records.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { until } from '../wait.ts'
import { noSearch } from './block-payload.ts'
import { signed } from './command.ts'
import { brief, type CheckedPeer, jsonOf, PREFIX, start, TEXT } from './common.ts'
import { fork, grow, miner, temporaryDirectory } from './grow.ts'
import { localValue } from './local.ts'
import { mineBlock } from './miner.ts'
import { type Answer, Peer, type RequestOptions } from './request.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

const small = { graph: 'petersen', pow: false } as const

/** Sends POST make-backup as a program on this machine does. Checks that web pages cannot read the response. */
async function makeBackup(url: string, prefix: string, options: RequestOptions = {}, query = ''): Promise<Answer> {
  const peer = new Peer(url)
  try {
    const answer = await peer.request('POST', `${prefix}/make-backup${query}`, options)
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    return answer
  } finally {
    peer.close()
  }
}

/** Waits for the end of a job. Returns its last status. */
async function ended(peer: CheckedPeer, id: string): Promise<string> {
  let last = ''
  await until(async () => {
    const { status, body } = await peer.get(`/check-backup/${id}`)
    expect(status).toBe(200)
    last = `${body}`
    return last !== 'backup-in-progress'
  })
  return last
}

/** A disk that blocks all writes below `directory` until `goOn` is called. */
function slowDisk(directory: string) {
  let isWaiting = false
  let goOn: () => void = () => undefined
  const mayWrite = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const write = ClassicLevel.prototype.batch as (...given: unknown[]) => Promise<void>
  const spy = vi.spyOn(ClassicLevel.prototype, 'batch')
  spy.mockImplementation(async function (this: ClassicLevel, ...given: unknown[]) {
    if (this.location.startsWith(directory)) {
      isWaiting = true
      await mayWrite
    }
    return write.apply(this, given)
  } as never)
  onTestFinished(() => spy.mockRestore())
  return { goOn, isWaiting: () => isWaiting }
}

it.each(['in memory', 'on disk'])(
  'a backup %s opens as a data directory in the state at the start of the job',
  async (kept) => {
    const directory = await temporaryDirectory()
    const backupDir = join(directory, 'backups')
    const dataDir = kept === 'on disk' ? join(directory, 'data') : undefined
    const { devnet, peer } = await start({ ...small, dataDir, backupDir })
    const { chains } = devnet
    grow(devnet, 300, (index, chain) => (index === 7 ? [signed({ chainId: `${chain}` })] : []))
    fork(devnet, new Map(chains.cut), 5)
    chains.changeRules({ blockDelay: 5_000_000n })
    const before = jsonOf(await peer.get(`${PREFIX}/cut`)).hashes
    const { goOn, isWaiting } = slowDisk(backupDir)
    const beforeMs = Date.now()
    const started = await makeBackup(devnet.url, '')
    expect(started.status).toBe(200)
    expect(started.headers['content-type']).toBe(TEXT)
    const id = `${started.body}`
    expect(Number(id) / 1000).toBeGreaterThanOrEqual(beforeMs)
    expect(Number(id) / 1000).toBeLessThan(Date.now() + 60_000)
    expect(brief(await peer.get(`/check-backup/${id}`))).toEqual([200, TEXT, 'backup-in-progress'])
    // Only one job runs at a time, for both paths. It leaves out nothing that a later call wants.
    expect(brief(await makeBackup(devnet.url, '', {}, '?backupPact'))).toEqual([200, TEXT, id])
    expect(brief(await makeBackup(devnet.url, PREFIX))).toEqual([202, TEXT, id])
    await mineBlock(peer)
    grow(devnet, 20)
    await until(isWaiting)
    goOn()
    expect(await ended(peer, id)).toBe('backup-done')
    expect(await readdir(backupDir)).toEqual([id])
    expect((await readdir(join(backupDir, id))).sort()).toEqual(['blocks', 'state'])
    expect(await checkDataDirectory(join(backupDir, id))).toMatchObject({
      ...{ blocks: 315, stateBlocks: 315, orphans: 5, findings: [] },
    })

    const copy = await start({ dataDir: join(backupDir, id), difficulty: undefined })
    expect(jsonOf(await copy.peer.get(`${PREFIX}/cut`)).hashes).toEqual(before)
    expect(copy.devnet.chains.network.blockDelay).toBe(5_000_000n)
    await mineBlock(copy.peer)
    await copy.devnet.close()
    expect(await checkDataDirectory(join(backupDir, id))).toMatchObject({
      blocks: 316,
      stateBlocks: 316,
      findings: [],
    })
  },
)

it('a backup has no state database unless a call wants it', async () => {
  const backupDir = await temporaryDirectory()
  const { devnet, peer } = await start({ ...small, backupDir })
  const { body } = await makeBackup(devnet.url, '')
  expect(await ended(peer, `${body}`)).toBe('backup-done')
  expect(await readdir(join(backupDir, `${body}`))).toEqual(['blocks'])
})

it('the call backupPact adds the state database', async () => {
  const backupDir = await temporaryDirectory()
  const { devnet, peer } = await start({ ...small, backupDir })
  grow(devnet, 40, (index, chain) => (index % 10 === 0 ? [signed({ chainId: `${chain}` })] : []))
  const { status, body } = await makeBackup(devnet.url, PREFIX, {}, '?backupPact=')
  expect(status).toBe(202)
  expect(await ended(peer, `${body}`)).toBe('backup-done')
  expect(brief(await peer.get(`${PREFIX}/check-backup/${body}`))).toEqual([200, TEXT, 'backup-done'])
  expect((await readdir(join(backupDir, `${body}`))).sort()).toEqual(['blocks', 'state'])
  const report = await checkDataDirectory(join(backupDir, `${body}`))
  expect(report).toMatchObject({ blocks: 50, stateBlocks: 50, transactions: 10 * 10 + 4, findings: [] })
  const balances = ({ ledger, chains }: Devnet) =>
    chains.chainIds.map((chain) =>
      localValue(ledger, chain, `(map (lambda (name) (coin.get-balance name)) ["sender00" "${miner.account}"])`),
    )
  const notices: string[] = []
  const onNotice = (message: string) => void notices.push(message)
  const copy = await start({ dataDir: join(backupDir, `${body}`), difficulty: undefined, onNotice })
  expect(balances(copy.devnet)).toEqual(balances(devnet))
  expect(new Set(balances(devnet).map((each) => JSON.stringify(each))).size).toBeGreaterThan(1)
  // The backup includes the state, so nothing was rebuilt.
  expect(notices).toEqual([])
})

it('a node without a backup directory answers 404 and says how to enable backups', async () => {
  const { devnet, peer } = await start(small)
  const text = 'backups are not enabled: start the node with `backupDir`'
  for (const prefix of ['', PREFIX]) {
    expect(brief(await makeBackup(devnet.url, prefix))).toEqual([404, TEXT, text])
    expect(brief(await peer.get(`${prefix}/check-backup/1`))).toEqual([404, TEXT, text])
  }
})

describe('make-backup changes the state of the node', () => {
  it.each(['', PREFIX])('%s/make-backup refuses a request with the Origin header of a web page', async (prefix) => {
    const backupDir = await temporaryDirectory()
    const { devnet } = await start({ ...small, backupDir })
    const origin = 'https://page.example'
    const [status, type, text] = brief(await makeBackup(devnet.url, prefix, { headers: { origin } }))
    expect(status).toBe(403)
    expect(type).toBe(TEXT)
    expect(text).toBe(`control is for programs, not for pages of ${origin}`)
    expect(await readdir(backupDir)).toEqual([])
  })

  it('make-backup refuses a page whose host name resolves to this machine', async () => {
    const { devnet } = await start({ ...small, backupDir: await temporaryDirectory() })
    const [status, , text] = brief(await makeBackup(devnet.url, '', { headers: { host: 'evil.example' } }))
    expect(status).toBe(403)
    expect(text).toBe('control needs localhost, 127.0.0.1 or [::1] in the URL, not evil.example')
  })

  it.each(['', PREFIX])('%s/make-backup allows no page in a preflight', async (prefix) => {
    const { devnet } = await start({ ...small, backupDir: await temporaryDirectory() })
    const page = new Peer(devnet.url)
    onTestFinished(() => page.close())
    const answer = await page.request('OPTIONS', `${prefix}/make-backup`, {
      headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
    })
    expect(answer.status).toBe(405)
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })
})

it('the call check-backup finds jobs of earlier runs by the directories they left', async () => {
  const backupDir = await temporaryDirectory()
  const { devnet, peer } = await start({ ...small, backupDir })
  await mkdir(join(backupDir, '1700000000000000'))
  await mkdir(join(backupDir, '1700000000000001.partial'))
  await mkdir(join(backupDir, 'other'))
  const statusOf = async (id: string) => brief(await peer.get(`/check-backup/${id}`))
  expect(await statusOf('1700000000000000')).toEqual([200, TEXT, 'backup-done'])
  expect(await statusOf('1700000000000001')).toEqual([200, TEXT, 'backup-failed'])
  for (const id of ['1700000000000002', 'other', '-', '9'.repeat(300)]) {
    expect(await statusOf(id)).toEqual([404, TEXT, 'no such backup'])
  }
  expect((await statusOf('..%2Fother'))[0]).toBe(400)
  const plain = new Peer(devnet.url)
  expect((await plain.get('/make-backup')).status).toBe(405)
  plain.close()
  expect((await peer.request('POST', '/check-backup/1')).status).toBe(405)
})

it('a node whose backup directory cannot be written does not start', async () => {
  const directory = await temporaryDirectory()
  await writeFile(join(directory, 'file'), '')
  for (const backupDir of [join(directory, 'file'), join(directory, 'file', 'below'), '/proc/newcut']) {
    await expect(startDevnet({ port: 0, ...small, backupDir })).rejects.toMatchObject({
      code: 'DATA_UNUSABLE',
      message: expect.stringContaining(`${backupDir}: backups cannot be written: `),
      hint: expect.any(String),
    })
  }
})

it('a backup job that cannot write fails, and says why', async () => {
  const directory = await temporaryDirectory()
  const backupDir = join(directory, 'backups')
  const notices: string[] = []
  const onNotice = (message: string) => void notices.push(message)
  const { devnet, peer } = await start({ ...small, backupDir, onNotice })
  // After the start of the node a file replaces the directory.
  await rm(backupDir, { recursive: true })
  await writeFile(backupDir, '')
  const ids = []
  for (let i = 0; i < 2; i++) {
    const { status, body } = await makeBackup(devnet.url, '')
    expect(status).toBe(200)
    expect(await ended(peer, `${body}`)).toBe('backup-failed')
    ids.push(`${body}`)
  }
  expect(ids[0]).not.toBe(ids[1])
  expect(notices).toEqual(ids.map((id) => expect.stringMatching(new RegExp(`^backup ${id} failed: ENOTDIR: `))))
  await mineBlock(peer)
})

it('a backup job that the end of the node aborts leaves no backup', async () => {
  const backupDir = await temporaryDirectory()
  const notices: string[] = []
  const { goOn } = slowDisk(backupDir)
  // The node closes the search last, before it ends the job. The disk resumes right after that.
  const close = async () => void turn().then(goOn)
  const options = { port: 0, ...small, backupDir, onNotice: (message: string) => void notices.push(message) }
  const devnet = await startDevnet(options, { search: { ...noSearch, close } })
  grow(devnet, 300)
  const response = await fetch(`${devnet.url}/make-backup`, { method: 'POST' })
  const id = await response.text()
  await devnet.close()
  expect(notices).toEqual([`backup ${id} failed: the node stopped`])
  expect(await readdir(backupDir)).toEqual([])
})

it('startDevnet refuses the unfinished copy that a killed backup job leaves', async () => {
  const directory = await temporaryDirectory()
  const { devnet } = await start(small)
  grow(devnet, 240)
  // Reading fails after the last block, so the copy has all blocks but not the records that follow them.
  const snapshot = { ...stateSnapshotOf(devnet.chains.state), blocks: 251 }
  await expect(writeCopy(join(directory, 'blocks'), devnet.settings, snapshot)).rejects.toThrow('block number 250')
  const error = await startDevnet({ port: 0, dataDir: directory }).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(NewcutError)
  expect(error).toMatchObject({
    code: 'DATA_UNUSABLE',
    message: expect.stringContaining('not one of a newcut network'),
  })
})
