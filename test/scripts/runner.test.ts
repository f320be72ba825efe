/** The program behind `npm test`: its errors for wrong options, and its cleanup of processes that outlive a run. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { inThird, parts, THIRDS } from '../../scripts/test/parts.ts'
import { processes } from '../../scripts/test/processes.ts'
import { describeWith } from '../needs.ts'
import { until } from '../wait.ts'

const program = (name: string) => fileURLToPath(new URL(`../../dist/scripts/test/${name}.js`, import.meta.url))
const run = (name: string, ...args: string[]) =>
  spawnSync(process.execPath, [program(name), ...args], { encoding: 'utf8' })

describe('npm run test:full', () => {
  it('npm run test:full lists the parts for an unknown name', () => {
    const names = parts.map(({ name }) => name).join(', ')
    for (const option of ['--part', '--without']) {
      expect(run('main', '--full', option, 'nonsense')).toMatchObject({
        status: 2,
        stdout: '',
        stderr: `there is no part nonsense; the parts are ${names}\n`,
      })
    }
  })

  it('npm run test:full refuses other options, and lists its own with --help', () => {
    expect(run('main', '--parts', 'sim')).toMatchObject({ status: 2, stderr: expect.stringMatching(/'--parts'/) })
    const rotation = '--rotation often: expected a whole number, such as 7\n'
    expect(run('main', '--rotation', 'often')).toMatchObject({ status: 2, stderr: rotation })
    expect(run('main', '--third', '-1').status).toBe(2)
    const { status, stdout } = run('main', '--help')
    expect(status).toBe(0)
    for (const { name, what } of parts) expect(stdout).toMatch(new RegExp(`^ {2}${name} +${what.slice(0, 20)}`, 'm'))
  })

  it('npm run test:full runs each file in one of three thirds in a row', () => {
    for (const { files } of parts) {
      const thirds = Array.from({ length: THIRDS }, (_, i) => inThird(files, 491_000 + i))
      expect(thirds.flat().toSorted()).toEqual(files.toSorted())
    }
    const ran = run('main', '--third', '1', '--part', 'suites')
    expect(ran.stdout).toMatch(/^third 1: a third of the files of each part but quick; --third 1 repeats it$/m)
    // Its only file is in the thirds 0, 3, 6.
    expect(ran.stdout).toMatch(/^not in this third: suites$/m)
    expect(ran.status).toBe(1)
  })
})

it('npm run test:busy and test:nodes refuse invalid numbers and versions', () => {
  expect(run('busy', '--runs', 'many')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^--runs many: expected a whole number/),
  })
  expect(run('nodes', 'lts')).toMatchObject({
    status: 2,
    stderr: 'lts: not a version of Node, such as 24 or 24.21.0\n',
  })
})

/** Starts a process that outlives its parent, one in its own session, and one that would take a minute. */
const UNRULY = `const { spawn } = require('node:child_process')
const wait = (options) => spawn(process.execPath, ['-e', 'setTimeout(() => 0, 600000)'], { stdio: 'ignore', env: {}, ...options })
const pids = [wait({}), wait({ detached: true })].map(({ pid }) => pid)
require('node:fs').writeFileSync(process.argv[1], JSON.stringify([process.pid, ...pids]))
setTimeout(() => 0, 600000)`

describeWith(process.platform === 'linux' ? null : 'only Linux lists processes in /proc', 'a run of tests', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    'a run that ends by %s leaves no process behind',
    async (signal) => {
      const folder = mkdtempSync(join(tmpdir(), 'newcut-runner-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const file = join(folder, 'pids')
      const runner = `import { runInSession } from ${JSON.stringify(program('session'))}
      import { untilStopped } from ${JSON.stringify(program('stop'))}
      const args = ['-e', ${JSON.stringify(UNRULY)}, ${JSON.stringify(file)}]
      process.exitCode = await untilStopped(async (stopped) => {
        await runInSession(process.execPath, args, {}, stopped)
        return 0
      })`
      const child = spawn(process.execPath, ['--input-type=module', '-e', runner], { stdio: 'ignore' })
      const ended = new Promise((resolve) => child.on('exit', (code, by) => resolve(by ?? code)))
      const pids = await eventually(() => JSON.parse(readFileSync(file, 'utf8')) as number[])
      expect(alive(pids)).toEqual(pids)
      child.kill(signal)
      expect(await ended).toBe(signal === 'SIGKILL' ? signal : signal === 'SIGINT' ? 130 : 143)
      await until(() => alive(pids).length === 0)
    },
  )
})

const alive = (pids: readonly number[]) => {
  const all = new Set(processes().map(({ pid }) => pid))
  return pids.filter((pid) => all.has(pid))
}

/** Retries until the call throws no error. @returns its result */
async function eventually<T>(get: () => T): Promise<T> {
  let result: { readonly value: T } | null = null
  await until(() => {
    try {
      result = { value: get() }
    } catch (error) {
      if (!(error instanceof SyntaxError) && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    return result !== null
  })
  return (result as unknown as { readonly value: T }).value
}
