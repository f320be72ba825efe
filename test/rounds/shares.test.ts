/** A miner that is killed while rigs submit shares: the log has every accepted share, once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { withNonce } from '../../src/ground/chain/header.ts'
import { powHash } from '../../src/ground/chain/pow.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { LevelStore } from '../../src/mining/accounts/level-store.ts'
import type { WorkerTable } from '../../src/mining/accounts/rig-rows.ts'
import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'
import { composeNonce } from '../../src/mining/stratum/nonces.ts'
import { start } from '../cli/run.ts'
import { randomFrom } from '../random.ts'
import { rotation, roundsOf } from '../rotation.ts'
import { Rig, type RigJobSeen } from '../support/stratum-rig.ts'
import { until } from '../wait.ts'

const ROUNDS = roundsOf(20, 7)
const RIGS = 3
/** Shares per connection, all submitted at once. */
const SHARES_OF_SESSION = 6
const MAX_ACCEPTED = 200

const options = (folder: string) => [
  'mine',
  '--threads',
  '0',
  '--gpu',
  'none',
  '--stratum-listen',
  '127.0.0.1:0',
  '--http',
  '127.0.0.1:0',
  '--difficulty',
  '1T',
  '--stratum-difficulty',
  '100',
  '--state',
  folder,
]

async function started(folder: string) {
  const miner = start(options(folder))
  const [, port] = await miner.sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
  const [, url] = await miner.sees(/dashboard: (http:\/\/\S+)\//)
  return { miner, port: Number(port), url }
}

const idOf = ({ header }: RigJobSeen, nonce2: string, nonce1: string) => {
  const nonce = composeNonce(nonce2, { bits: 16, value: Number.parseInt(nonce1, 16) })
  return encodeBase64Url(powHash(withNonce(header, nonce)))
}

/**
 * Submits shares until the server is gone, and reports the ids of accepted ones. The rig reconnects repeatedly, each
 * time under another name, so that its shares stay easy.
 */
async function handIn(port: number, name: string, onAccepted: (id: string) => void): Promise<void> {
  for (let number = 0; ; number++) {
    const rig = await Rig.connect(port).catch(() => null)
    if (rig === null) return
    await Promise.race([rig.subscribe(), rig.ended])
    await Promise.race([rig.authorize(`k:abc.${name}-${number}`), rig.ended])
    await until(() => rig.jobs.length > 0 || rig.hasEnded)
    const [job] = rig.jobs
    const shares = Array.from({ length: job === undefined ? 0 : SHARES_OF_SESSION }, async () => {
      const nonce2 = rig.nextShare(job)
      const answer = await Promise.race([rig.submit(job.id, nonce2), rig.ended])
      if (answer?.result === true) onAccepted(idOf(job, nonce2, rig.nonce1))
    })
    await Promise.all(shares)
    rig.close()
  }
}

async function logged(folder: string): Promise<ShareEntry[]> {
  const store = await LevelStore.open({ folder: join(folder, 'shares'), network: 'development', clock: systemClock })
  const shares: ShareEntry[] = []
  for await (const share of store.shares()) shares.push(share)
  await store.close()
  return shares
}

it(`${ROUNDS} kills lose no share that was answered, and count none twice`, { timeout: 60_000 * ROUNDS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-share-kills-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const random = randomFrom(ROUNDS + rotation)
  const accepted: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { miner, port } = await started(folder)
    const enough = accepted.length + 1 + Math.floor(random() * MAX_ACCEPTED)
    const onAccepted = (id: string) => {
      if (accepted.push(id) === enough) miner.child.kill('SIGKILL')
    }
    await Promise.all(Array.from({ length: RIGS }, (_, i) => handIn(port, `rig-${i}`, onAccepted)))
    await miner.ended
    const ids = (await logged(folder)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(accepted.filter((id) => !ids.includes(id))).toEqual([])
  }
  expect(new Set(accepted).size).toBe(accepted.length)
  const shares = await logged(folder)
  // Logged shares whose answer the kill prevented count too: accounts are made from the log.
  const { miner, url } = await started(folder)
  const { rigs } = (await (await fetch(`${url}/api/rigs?limit=65536`)).json()) as WorkerTable
  const counted = rigs.map(({ worker, accepted, hashes }) => [worker, accepted, hashes])
  const expected = [...new Set(shares.map(({ worker }) => worker))].map((worker) => {
    const own = shares.filter((share) => share.worker === worker)
    return [worker, own.length, own.reduce((sum, { difficulty }) => sum + difficulty, 0)]
  })
  expect(counted.toSorted()).toEqual(expected.toSorted())
  console.log(`${ROUNDS} kills: ${accepted.length} shares answered, ${shares.length} in the log`)
  miner.child.kill('SIGKILL')
  await miner.ended
})
