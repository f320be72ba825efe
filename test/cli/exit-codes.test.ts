/** Every exit code of the table: each in a process of its own, and more causes of it in this process. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { exitCodes } from '../../src/ground/base/exit-codes.ts'
import { exitCodeFor, type Running, run, start, startHere, startWith, stopAll } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-exit-'))
/** Answers every request in a way that no node does. */
const foreign = createServer((_request, response) => response.end('<html>'))
let foreignUrl = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
})
afterEach(stopAll)
afterAll(() => {
  foreign.close()
  rmSync(folder, { recursive: true })
})

const MINE = ['mine', '--gpu', 'none', '--threads', '1', '--http', 'off']
const seen = new Set<number>()

/** Expects the process to exit with that code and print one matching error line. */
async function ends(running: Pick<Running, 'ended'>, code: number): Promise<string> {
  const ended = await running.ended
  expect(ended).toMatchObject({ code, signal: null })
  seen.add(code)
  if (ended.err !== '') expect(ended.err).toMatch(/^newcut: .*\n$/)
  return ended.err
}

it('the exit code is 0 after enough blocks, enough time, and a clean stop', async () => {
  await ends(start([...MINE, '--difficulty', '1k', '--blocks', '1']), 0)
  await ends(startHere([...MINE, '--difficulty', '1G', '--duration', '1s']), 0)
  const miner = start([...MINE, '--difficulty', '1G'])
  await miner.sees(/work/)
  miner.child.kill('SIGTERM')
  await ends(miner, 0)
})

it('the exit code is 1 if the input is wrong or cannot be read', async () => {
  expect(await ends(start(['inspect', '-'], {}, '{"limit": 2,'), 1)).toContain('[BAD_FORMAT]')
  expect(await ends(startHere(['solve', 'ff'.repeat(32)], {}, 'x'), 1)).toContain('[BAD_INPUT]')
  const test = join(folder, 'fails.repl')
  writeFileSync(test, '(expect "two" 2 1)\n')
  await ends(startHere(['test', test]), 1)
})

it('the exit code is 2 for wrong options, variables and files', async () => {
  expect(await ends(start([...MINE, '--bogus']), 2)).toContain('[BAD_OPTION]')
  expect(await ends(startHere(MINE, { NEWCUT_BOGUS: '1' }), 2)).toContain('[BAD_OPTION]')
  expect(await ends(startHere([...MINE, '--config', join(folder, 'none.yaml')]), 2)).toContain('[BAD_CONFIG]')
  expect(await ends(startHere([...MINE, '--chains', '77']), 2)).toContain('has no chain 77')
  expect(await ends(startHere(['nosuch']), 2)).toContain('no such command')
})

it('the exit code is 20 for a node that does not answer', async () => {
  expect(await ends(start([...MINE, '--node', '127.0.0.1:1', '--fail-fast']), 20)).toContain('[NODE_UNREACHABLE]')
  await ends(startHere(['local', '1', '--node', '127.0.0.1:1']), 20)
})

it('the exit code is 21 for a node that refuses, for another server, and for a node of another network', async () => {
  expect(await ends(start(['local', '1', '--node', foreignUrl]), 21)).toContain('[NODE_NOT_RECOGNISED]')
  expect(await ends(startHere([...MINE, '--node', foreignUrl, '--fail-fast']), 21)).toContain('[NODE_NOT_RECOGNISED]')
  const address = async (node: Pick<Running, 'sees'>) => (await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)/))[1]
  const closed = await address(startHere(['devnet', '--port', '0', '--mining-public-key', 'ab'.repeat(32)]))
  expect(await ends(startHere([...MINE, '--node', closed]), 21)).toContain('[NODE_REFUSED]')
  const other = await address(startHere(['devnet', '--port', '0', '--graph', 'petersen']))
  const two = await run([...MINE, '--node', closed, '--node', other, '--public-key', 'ab'.repeat(32)])
  expect(two).toMatchObject({ code: exitCodeFor(two), err: expect.stringMatching(/network/) })
})

it('the exit code is 22 if nothing could search at the end', async () => {
  const miner = start(['mine', '--engine', 'external', '--command', 'false', '--http', 'off'])
  await miner.sees(/the external command ended/)
  miner.child.kill('SIGTERM')
  await ends(miner, 22)
})

it('the exit code is 23 if no kernel works here', async () => {
  const kernel = process.arch === 'arm64' ? 'native-avx2' : 'native-neon'
  expect(await ends(start([...MINE, '--kernel', kernel]), 23)).toContain('[KERNEL_REFUSED]')
})

it('the exit code is 24 for an address in use', async () => {
  const taken = new URL(foreignUrl).port
  expect(await ends(start(['devnet', '--port', taken]), 24)).toContain('[PORT_BUSY]')
  await ends(startHere(['mine', '--gpu', 'none', '--threads', '1', '--http', `127.0.0.1:${taken}`]), 24)
})

it('the exit code is 25 for a folder that is not a data directory', async () => {
  expect(await ends(start(['devnet', '--data', join(folder, 'none'), '--check']), 25)).toContain('[DATA_UNUSABLE]')
})

const compiled = fileURLToPath(new URL('../../dist/src/', import.meta.url))

/** That line of the compiled files with that name. */
function codeAt([, name, line]: readonly string[]): string {
  const paths = readdirSync(compiled, { recursive: true, encoding: 'utf8' }).filter((path) => basename(path) === name)
  return paths.map((path) => readFileSync(join(compiled, path), 'utf8').split('\n')[Number(line) - 1]).join('\n')
}

it('the exit code is 70 for a bug, with one line that names its place', async () => {
  const broken = "import os from 'node:os'; import { syncBuiltinESMExports as sync } from 'node:module';"
  const inCommand = `${broken} os.cpus = () => { throw new TypeError('broken') }; sync()`
  const before = await ends(startWith(['--import', `data:text/javascript,${inCommand}`], MINE), 70)
  expect(before).toMatch(/^newcut: internal error: broken \(.* at [\w-]+\.js:\d+:\d+, .*report it\) \[INTERNAL\]\n$/)
  expect(codeAt(/ at ([\w-]+\.js):(\d+)/.exec(before) ?? [])).toContain('cpus()')
  // When the miner reports its first work.
  const later = `const { stdout } = process; const { write } = stdout; stdout.write = (text, ...more) => {
    if (/ work /.test(text)) setImmediate(() => { throw new RangeError('late') })
    return write.call(stdout, text, ...more)
  }`
  const inRun = `data:text/javascript,${encodeURIComponent(later)}`
  const miner = startWith(['--import', inRun], [...MINE, '--difficulty', '1G'])
  expect(await ends(miner, 70)).toMatch(/^newcut: internal error: late /)
})

it('the exit codes 130 and 143 follow a second signal, which stops at once', async () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    // The node exits together with its slow command.
    const node = start([
      'devnet',
      '--port',
      '0',
      '--exec',
      "exec 2>/dev/null; trap 'echo told' TERM; echo runs; sleep 20; sleep 20",
    ])
    await node.sees(/runs/)
    node.child.kill(signal)
    await node.sees(/told/)
    node.child.kill(signal)
    await ends(node, code)
  }
})

it('the tests cover every exit code', () => {
  expect([...seen].sort((a, b) => a - b)).toEqual(Object.keys(exitCodes).map(Number))
})
