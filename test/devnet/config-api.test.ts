import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { JSON_TYPE, jsonOf, start } from './common.ts'

it('/config describes the node, and names no accounts or paths', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const key = 'cd'.repeat(32)
  const { peer } = await start({
    accounts: [{ account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] }],
    backupDir: folder,
    blockDelayMs: 1500,
    graph: 'petersen',
    workLimit: 77,
    updateStreamMs: 60_000,
  })
  const answer = await peer.get('/config')
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe(JSON_TYPE)
  expect(jsonOf(answer)).toMatchObject({
    chainwebVersion: 'development',
    mining: { coordination: { enabled: true, limit: 77, updateStreamTimeout: 60 } },
    backup: { api: { enabled: true } },
    devnet: { chains: 10, blockDelay: 1_500_000, proofOfWork: true, anyAccount: false },
  })
  for (const secret of [key, folder]) expect(answer.body.toString()).not.toContain(secret)
})

it('/config of a node with default options has the product word in the name of its version', async () => {
  const { devnet } = await start({ product: 'ledger', pow: false })
  const config = await (await fetch(`${devnet.url}/config`)).json()
  expect(config).toMatchObject({
    ledgerVersion: 'development',
    backup: { api: { enabled: false } },
    devnet: { proofOfWork: false, anyAccount: true },
  })
})
