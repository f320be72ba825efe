/** Help, examples and the first screen. Examples are given to a real shell, and to the real program. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { benchSuites } from '../../src/cli/bench-suites.ts'
import { examples } from '../../src/cli/examples.ts'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { headerRecords } from '../records.ts'
import { run } from './run.ts'

const dist = fileURLToPath(new URL('../../dist/src/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-help-'))
afterAll(() => rmSync(folder, { recursive: true }))

const KEY = 'ab'.repeat(32)
const WORDS: Readonly<Record<string, string>> = { REQUESTKEY: 'A'.repeat(43), TARGET: 'ff'.repeat(32), KEY }

/** A line that ends with a backslash and the next are one example. */
const commandLines = (lines: readonly string[]): string[] => lines.join('\n').split(/(?<!\\)\n/)
const filledIn = (line: string) => line.replace(/REQUESTKEY|TARGET|KEY/g, (word) => WORDS[word])

/** The program, but commands print that they would run instead of running. */
const PARSER = `import { runProgram } from '${dist}cli/program.js'
const commands = new Proxy({}, { get: (_, name) => async () => (console.log('runs', name), 0) })
const surroundings = { version: '1', environment: {}, out: process.stdout, err: process.stderr, nowMs: Date.now }
process.exitCode = await runProgram(process.argv.slice(2), surroundings, commands)
`

function installed(name: string, script: string): string {
  const bin = join(folder, name)
  mkdirSync(bin)
  writeFileSync(join(bin, 'newcut'), `#!/bin/sh\nexec '${process.execPath}' --no-warnings '${script}' "$@"\n`)
  chmodSync(join(bin, 'newcut'), 0o755)
  return `${bin}:${process.env.PATH}`
}

// Examples write some of these files anew.
beforeEach(() => {
  writeFileSync(join(folder, 'parser.mjs'), PARSER)
  writeFileSync(join(folder, 'miner.yaml'), `account: k:${KEY}\npublic-key: ${KEY}\n`)
  writeFileSync(join(folder, 'work.bin'), '')
  writeFileSync(join(folder, 'header.hex'), headerRecords[0].header_hex)
  writeFileSync(join(folder, 'token.repl'), '(expect "a sum" 3 (+ 1 2))\n')
  writeFileSync(join(folder, 'sale.repl'), '(expect "a product" 6 (* 3 2))\n')
  mkdirSync(join(folder, '.config/fish/completions'), { recursive: true })
})

const commandNames = Object.keys(examples).filter((name) => name !== 'newcut')
const helpOf = async (...words: string[]) => (await run([...words, '--help'])).out

describe('newcut --help', () => {
  it('has two to four examples in the help of every command', async () => {
    const listed = [...(await helpOf()).split('Commands:')[1].matchAll(/^ {2}([a-z]+)(?= )/gm)].map(([, name]) => name)
    expect(listed.filter((name) => !['help', 'newcut'].includes(name)).toSorted()).toEqual(commandNames.toSorted())
    for (const [name, lines] of Object.entries(examples)) {
      const help = await helpOf(...(name === 'newcut' ? [] : [name]))
      expect(help).toContain(`Examples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`)
      expect(commandLines(lines).length).toBeGreaterThanOrEqual(2)
      expect(commandLines(lines).length).toBeLessThanOrEqual(4)
    }
  })

  it('names every suite of bench, with a line for each of at most 80 columns', async () => {
    const help = await helpOf('bench')
    for (const [name, what] of Object.entries(benchSuites)) {
      const line = help.split('\n').find((each) => each.startsWith(`  ${name} `)) ?? ''
      expect(line).toContain(what)
      expect(line.length).toBeLessThanOrEqual(80)
    }
  })

  it('is as good as -h; -v is --version', async () => {
    expect((await run(['devnet', '-h'])).out).toBe(await helpOf('devnet'))
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    for (const flag of ['-v', '--version']) expect(await run([flag])).toMatchObject({ code: 0, out: `${version}\n` })
  })
})

describe('newcut without arguments', () => {
  it('says in one screen of 80 x 24 what to do first, and names every command', async () => {
    const { code, out, err } = await run([])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const lines = out.split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(out.indexOf('newcut mine')).toBeLessThan(out.indexOf('Commands:'))
    const words = new Set(out.split('Commands:')[1].match(/[a-z]+/g))
    expect(commandNames.filter((name) => !words.has(name))).toEqual([])
  })
})

describe('the examples', () => {
  let path: string
  beforeAll(() => {
    path = installed('parsing', join(folder, 'parser.mjs'))
  })

  // The script of zsh is run by zsh in completion.test.ts.
  const lines = Object.values(examples).flatMap(commandLines)
  it.each(lines.filter((line) => !line.includes('completion zsh')))('%s: is understood', (line) => {
    // Without curl's node there is nothing to inspect, but the command line is one all the same.
    const { status, stdout, stderr } = spawnSync('bash', ['-c', `set -e; ${filledIn(line)}`], {
      cwd: folder,
      env: { PATH: path, HOME: folder },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    if (!/[<>(|]|help/.test(line)) expect(stdout).toMatch(/^runs \w+\n$/)
  })
})

describe('the examples that end by themselves', () => {
  let devnet: Devnet
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    devnet = await startDevnet({ port: 0, autoMine: { kind: 'constant', blockTimeMs: 200 } })
    env = { PATH: installed('running', `${dist}main.js`), HOME: folder, NEWCUT_NODE: devnet.url }
  })
  afterAll(() => devnet.close())

  it.each(
    [
      ...['keygen', 'config', 'blocks', 'local', 'inspect', 'contract'].flatMap((name) => examples[name]),
      examples.balance[0],
      examples.send[0],
      commandLines(examples.send)[2],
      examples.transfer[0],
      'newcut help mine',
    ].map((line) => [line]),
  )('%s: runs', async (line) => {
    const ours = filledIn(line).replace('http://127.0.0.1:1848', devnet.url)
    // Rejects with what was written to standard error, unless the exit code is 0.
    const { stdout } = await promisify(execFile)('bash', ['-c', `set -eo pipefail; ${ours}`], { cwd: folder, env })
    if (!line.includes('>') && !line.startsWith('newcut blocks')) expect(stdout).not.toBe('')
  })
})
