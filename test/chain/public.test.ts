/** The package entry points as users import them: from the built files, through the exports of package.json. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Runs a script in a process of its own and returns its output, parsed as JSON. */
async function printed(script: string): Promise<unknown> {
  const args = ['--input-type=module', '-e', script]
  return JSON.parse((await promisify(execFile)(process.execPath, args, { cwd: root })).stdout)
}

const namesOf = (door: string) => printed(`console.log(JSON.stringify(Object.keys(await import('${door}'))))`)

it('newcut/core judges work, reads headers and knows networks', async () => {
  const script = `
    import * as core from 'newcut/core'
    const work = core.encodeWork(core.genesisHeader(core.development, 0, new Uint8Array(32)))
    const { chainId, target } = core.decodeWork(work)
    const judged = core.meets(core.powHash(work), target) === core.solves(work)
    let code = 'none'
    try { core.decodeHeader(work) } catch (error) { if (error instanceof core.NewcutError) code = error.code }
    console.log(JSON.stringify([work.length, chainId, judged, code, core.MAX_WORK_BYTES]))`
  expect(await printed(script)).toEqual([286, 0, true, 'BAD_FORMAT', 502])
})

it('newcut/node exports the client with its errors, and no internals', async () => {
  expect(await namesOf('newcut/node')).toEqual([
    'BranchBoundsExceeded',
    'FormatError',
    'InvalidHeader',
    'InvalidPayload',
    'MinersPoolFull',
    'NewcutError',
    'NodeClient',
    'NodeHttp',
    'NodeMisbehaved',
    'NodeRefusal',
    'NotAcceptable',
    'NotFound',
    'NotRecognised',
    'NumberText',
    'Paging',
    'UnauthorizedMiner',
    'UnreachableError',
    'isRetryable',
  ])
})

it('all entry points share the same error classes', async () => {
  const script = `
    const [core, node] = [await import('newcut/core'), await import('newcut/node')]
    console.log(JSON.stringify([core.NewcutError === node.NewcutError, core.FormatError === node.FormatError]))`
  expect(await printed(script)).toEqual([true, true])
})

it.each(['newcut/core/header.js', 'newcut/core/public.js', 'newcut/node/http.js', 'newcut/dist/src/main.js'])(
  '%s is not exported',
  async (specifier) => {
    const script = `import('${specifier}').catch(({ code }) => console.log(JSON.stringify(code)))`
    expect(await printed(script)).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED')
  },
)

it('no file of the package imports an entry point', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      // The assertions of a test runner are an entry beside that of the functions.
      /\.ts$/.test(name) && !/^client\/matchers\/(?:vitest|jest)\.ts$/.test(name),
  )
  const wrong = files.filter((name) => /\/public\.ts'/.test(readFileSync(join(root, 'src', name), 'utf8')))
  expect(files.length).toBeGreaterThan(100)
  expect(wrong).toEqual([])
})
