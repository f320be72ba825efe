import { cp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { openDataDirectory } from '../../src/devnet/data/directory.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { randomFrom } from '../random.ts'
import { grow, temporaryDirectory } from './grow.ts'
import { startDevnet } from './whole-node.ts'

/** Ways to damage a file of a database. */
const harm: Readonly<Record<string, (path: string, random: () => number) => Promise<void>>> = {
  missing: (path) => rm(path),
  empty: (path) => truncate(path, 0),
  truncated: async (path, random) => truncate(path, Math.floor((await readFile(path)).length * random())),
  'garbage within': async (path, random) => {
    const bytes = await readFile(path)
    const from = Math.floor(bytes.length * random())
    for (let at = from; at < Math.min(from + 100, bytes.length); at++) bytes[at] ^= 1 + 255 * random()
    await writeFile(path, bytes)
  },
  'all garbage': async (path, random) =>
    writeFile(
      path,
      (await readFile(path)).map(() => 256 * random()),
    ),
}

/**
 * The outcome of opening a data directory: an error, or its number of blocks, its notices and the findings of a check.
 */
async function outcomeOf(
  directory: string,
): Promise<{ error?: string; blocks?: number; notices: string[]; findings?: readonly string[] }> {
  const notices: string[] = []
  const onNotice = (message: string) => void notices.push(message)
  try {
    const data = await openDataDirectory(directory, { asked: {}, onFailure: () => undefined, onNotice })
    const blocks = data.loaded.store.size
    await data.close()
    return { blocks, notices, findings: (await checkDataDirectory(directory)).findings }
  } catch (error) {
    if (!(error instanceof NewcutError) || error.code !== 'DATA_UNUSABLE') throw error
    return { error: error.message, notices }
  }
}

it.each([1, 2])(
  'a damaged database gives a clear error, or reports lost blocks, or has every block (seed %i)',
  async (seed) => {
    const random = randomFrom(seed)
    const directory = await temporaryDirectory()
    const original = join(directory, 'original')
    // The second opening turns the log into tables, so that both exist.
    for (let i = 0; i < 2; i++) {
      const devnet = await startDevnet({ port: 0, dataDir: original, ...(i === 0 && { graph: 'pair', pow: false }) })
      grow(devnet, 300)
      await devnet.close()
    }
    const seen = { errors: 0, shorter: 0, findings: 0, whole: 0 }
    for (const file of await readdir(join(original, 'blocks'))) {
      for (const [kind, change] of Object.entries(harm)) {
        const copy = join(directory, 'copy')
        await cp(original, copy, { recursive: true })
        await change(join(copy, 'blocks', file), random)
        const { error, blocks = 0, notices, findings = [] } = await outcomeOf(copy)
        const what = `${file} ${kind}: ${error ?? blocks} ${notices} ${findings}`
        if (error !== undefined) {
          seen.errors++
          expect(error, what).toMatch(/blocks: (damaged|cannot be opened|not a database)/)
        } else if (blocks < 602) {
          seen.shorter++
          expect(notices, what).toEqual([expect.stringContaining(`has lost blocks: 602 were in it, ${blocks} are`)])
          expect(findings, what).toEqual([])
        } else {
          // The node reads payloads on demand only, so the check finds the damaged ones.
          seen[findings.length > 0 ? 'findings' : 'whole']++
          for (const finding of findings) expect(finding, what).toMatch(/damaged: the record payload|no payload in the/)
        }
        await rm(copy, { recursive: true })
      }
    }
    expect(seen.errors).toBeGreaterThan(10)
    expect(seen.shorter).toBeGreaterThan(0)
    expect(seen.whole).toBeGreaterThan(0)
  },
)

it('an inaccessible state database is refused, not rebuilt', async () => {
  const directory = await temporaryDirectory()
  await (await startDevnet({ port: 0, graph: 'singleton', pow: false, dataDir: directory })).close()
  const state = join(directory, 'state')
  await rm(state, { recursive: true })
  await symlink(state, state)
  const refused = { code: 'DATA_UNUSABLE', message: expect.stringContaining(`${state}: cannot be accessed: ELOOP`) }
  await expect(checkDataDirectory(directory)).rejects.toMatchObject(refused)
  await expect(startDevnet({ port: 0, dataDir: directory })).rejects.toMatchObject(refused)
})
