/**
 * No header is handed out twice, even across restarts: starts are counted on disk, and the count decides creation
 * times.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { classOfStart } from '../../src/compose/search/rig-starts.ts'
import { readI64LE } from '../../src/ground/base/bytes.ts'
import { start } from '../cli/run.ts'
import { Rig } from '../support/stratum-rig.ts'
import { until } from '../wait.ts'
import { network } from './several-nodes.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-starts-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('the class of a start', () => {
  const random = () => 0.99

  it('the class of a start differs from the previous 15, even in a new folder', () => {
    const state = join(folder(), 'state')
    const warnings: string[] = []
    const residues = Array.from({ length: 17 }, () => {
      const { residue, modulus } = classOfStart(state, random, (text) => warnings.push(text))
      expect(modulus).toBe(16)
      return residue
    })
    expect(new Set(residues.slice(0, 16)).size).toBe(16)
    expect(residues[16]).toBe(residues[0])
    expect(readFileSync(join(state, 'rig-starts'), 'utf8')).toBe('31\n')
    expect(readdirSync(state)).toEqual(['rig-starts'])
    expect(warnings).toEqual([])
  })

  it('the class of a start is random without a folder', () => {
    expect(classOfStart(null, () => 0.5, String)).toEqual({ residue: 8, modulus: 16 })
  })

  it('the class of a start is random with a warning if the folder is a file', () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    const warnings: string[] = []
    expect(classOfStart(file, random, (text) => warnings.push(text))).toEqual({ residue: 15, modulus: 16 })
    expect(warnings).toEqual([
      `cannot count starts in ${join(file, 'rig-starts')} (ENOTDIR): rigs may repeat headers of an earlier start`,
    ])
  })

  it('the class of a start is random with a warning if the file holds no count', () => {
    const state = folder()
    writeFileSync(join(state, 'rig-starts'), 'twelve')
    const warnings: string[] = []
    expect(classOfStart(state, random, (text) => warnings.push(text)).residue).toBe(15)
    expect(warnings).toEqual([expect.stringMatching(/rig-starts is not a count of starts/)])
    expect(classOfStart(state, random, (text) => warnings.push(text)).residue).toBe(0)
    expect(warnings).toHaveLength(1)
  })
})

it('a rig that keeps header and nonce1 across restarts of the server, one by kill, searches no header twice', async () => {
  const node = await network({ graph: 'petersen', difficulty: 1n << 60n })
  const state = folder()
  const seen: { readonly key: string; readonly residue: bigint }[] = []
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
    const miner = start([
      ...['mine', '--node', `http://127.0.0.1:${node}`, '--http', 'off', '--threads', '0', '--gpu', 'none'],
      ...['--stratum-listen', '127.0.0.1:0', '--state', state],
    ])
    const [, port] = await miner.sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
    const rig = await Rig.login(Number(port), 'k:abc.rig', 'GodMiner/2.0.0')
    await until(() => rig.jobs.length >= 3)
    for (const { header } of rig.jobs) {
      // The header alone distinguishes searches here, as if the rig had the same nonce1 after each start.
      seen.push({ key: Buffer.from(header).toString('hex'), residue: readI64LE(header, 8) % 16n })
    }
    const residues = new Set(seen.slice(-rig.jobs.length).map(({ residue }) => residue))
    expect(residues.size).toBe(1)
    rig.close()
    miner.child.kill(signal)
    await miner.ended
  }
  expect(new Set(seen.map(({ key }) => key)).size).toBe(seen.length)
  const residues = [...new Set(seen.map(({ residue }) => residue))]
  expect(residues).toEqual([0n, 1n, 2n].map((n) => (residues[0] + n) % 16n))
})
