/**
 * Every command at outputs that are unlike a terminal of today: a pipe whose reader has gone, as of `| head -1`, and a
 * terminal of 40 columns without colours.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandRows } from '../../src/commands/commands.ts'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { exitCodes } from '../../src/ground/base/exit-codes.ts'
import { childEnv } from '../children.ts'
import { describeWith } from '../needs.ts'
import { SMALL_SEARCH } from './run.ts'
import { noTerminal, startInTerminal } from './terminal.ts'

const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
const ABSENT_KEY = 'A'.repeat(43)
const NO_SERVER = '127.0.0.1:1'

let devnet: Devnet
let folder: string

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine: { kind: 'on-arrival' } })
  folder = mkdtempSync(join(tmpdir(), 'newcut-outputs-'))
  const files: Readonly<Record<string, string>> = {
    'token.pact': '(module token G (defcap G () true))\n',
    'token.repl': '(expect "one" 1 1)\n',
    'request.yaml': 'code: "1"\npublicMeta: { chainId: "0", sender: sender00 }\nnetworkId: development\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
})
afterAll(async () => {
  await devnet.close()
  rmSync(folder, { recursive: true })
})

/** Command -> words of a call that prints something and ends by itself. FOLDER and NODE stand for what the test has. */
const calls: Readonly<Record<string, readonly string[]>> = {
  mine: [...SMALL_SEARCH, '--difficulty', '1k', '--blocks', '1', '--http', 'off', '--state', 'off'],
  blocks: ['--state', 'FOLDER/state'],
  payouts: ['--state', 'FOLDER/state'],
  config: ['mine'],
  solve: ['ff'.repeat(32)],
  lead: [
    '--dry-run',
    '--nats',
    `nats://${NO_SERVER}`,
    '--node',
    'NODE',
    '--public-key',
    'ab'.repeat(32),
    '--http',
    'off',
  ],
  fleet: ['--nats', `nats://${NO_SERVER}`],
  devnet: ['--port', '0', '--graph', 'singleton', '--auto-mine', 'on-demand', '--exec', 'exit 0'],
  'devnet status': [],
  'devnet mine': ['1'],
  'devnet fork': ['1'],
  'devnet snapshot': [],
  'devnet revert': [],
  'devnet reset': [],
  'devnet time': [],
  'devnet fund': ['sender00', '1'],
  'devnet impersonate': ['ab'.repeat(32)],
  'devnet drop': [],
  'devnet faults': [],
  balance: ['sender00'],
  fund: ['sender00', '1'],
  transfer: ['sender00', 'sender01', '1', '--key', 'sender00'],
  result: [ABSENT_KEY, '--timeout', '1s'],
  trace: [ABSENT_KEY],
  debug: ['FOLDER/missing.repl'],
  local: ['(enumerate 1 1000)'],
  send: ['(+ 1 2)', '--key', 'sender00'],
  sign: ['FOLDER/request.yaml', '--key', 'sender00'],
  types: ['coin'],
  keygen: [],
  devices: [],
  rigs: [NO_SERVER],
  bench: ['codec', '--quick'],
  init: ['FOLDER/project-NUMBER'],
  test: ['FOLDER'],
  fork: ['NODE', '--fork-cache', 'off'],
  format: ['FOLDER/token.pact'],
  lsp: [],
  dap: [],
  'rigs check': [NO_SERVER],
  conformance: ['--node', 'NODE', '--cases', 'FOLDER'],
  inspect: ['FOLDER/token.pact'],
  completion: ['bash'],
}
/** Without that of an internal error. */
const exitCodeNumbers: readonly (number | null)[] = Object.keys(exitCodes)
  .map(Number)
  .filter((code) => code !== 70)
const names = commandRows.map(({ name }) => name)
let projects = 0

function wordsOf(name: string): string[] {
  const words = [...name.split(' '), ...calls[name]]
  return words.map((word) =>
    word
      .replace('FOLDER', folder)
      .replace('NODE', devnet.url)
      .replace('NUMBER', () => `${projects++}`),
  )
}

/** Runs a command whose readers of stdout, or of both outputs, have closed their ends before it writes. */
function runUnread(name: string, isErrUnread: boolean) {
  const env = { ...childEnv, NEWCUT_NODE: devnet.url, HOME: folder }
  const child = spawn(process.execPath, [main, ...wordsOf(name)], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let err = ''
  if (isErrUnread) child.stderr.destroy()
  else child.stderr.on('data', (bytes) => (err += bytes))
  return new Promise<{ readonly code: number | null; readonly signal: string | null; readonly err: string }>(
    (resolve) => child.on('close', (code, signal) => resolve({ code, signal, err })),
  )
}

it('every command has a call at unlike outputs', () => {
  expect(Object.keys(calls).toSorted()).toEqual(names.toSorted())
})

describe('a pipe that is closed', () => {
  it.each(names)(
    'newcut %s ends with a code of the table and without a stack if nobody reads its output',
    async (name) => {
      const { code, signal, err } = await runUnread(name, false)
      expect({ signal, isKnown: exitCodeNumbers.includes(code) }, `${code} ${err}`).toEqual({
        signal: null,
        isKnown: true,
      })
      expect(err).not.toMatch(/^\s+at |EPIPE|node:|Unhandled/m)
      // Neither its output nor its messages.
      const other = err === '' ? null : await runUnread(name, true)
      expect(other?.code ?? code).toBe(code)
    },
  )
})

describeWith(noTerminal, 'a terminal of 40 columns with NO_COLOR', () => {
  it.each(names)('newcut %s prints without colours there, and ends', async (name) => {
    const env = { NEWCUT_NODE: devnet.url, HOME: folder, NO_COLOR: '1' }
    const terminal = startInTerminal(wordsOf(name), { columns: 40, env })
    // Commands that read stdin end with it.
    terminal.press('\x04')
    expect(await terminal.ended).not.toBe(70)
    const text = terminal.lines().join('\n')
    expect(text).not.toMatch(/^\s+at |node:internal|NaN|undefined/m)
    const coloured = terminal
      .screen()
      .flat()
      .filter((cell) => !cell.isFgDefault() || !cell.isBgDefault())
    expect(coloured).toEqual([])
  })
})
