/** Help, examples and the first screen. A real shell and the real program run the examples. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { commandRows } from '../../src/commands/commands.ts'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { benchSuites } from '../../src/faces/cli/bench-suites.ts'
import { commandGroups } from '../../src/faces/cli/command-row.ts'
import { RowOption } from '../../src/faces/cli/flags.ts'
import { programExamples, programOf, runProgram } from '../../src/faces/cli/program.ts'
import { versionFlags } from '../../src/faces/cli/version-flags.ts'
import { packageVersion } from '../../src/ground/platform/version.ts'
import { headerRecords } from '../records.ts'
import { rotating } from '../rotation.ts'
import { run, runProcess } from './run.ts'
import { silentContext } from './silent-context.ts'

const dist = fileURLToPath(new URL('../../dist/src/', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-help-'))
afterAll(() => rmSync(folder, { recursive: true }))

const KEY = 'ab'.repeat(32)
const WORDS: Readonly<Record<string, string>> = { REQUESTKEY: 'A'.repeat(43), TARGET: 'ff'.repeat(32), KEY }

/** Joins lines that end with a backslash: each result is one example. */
const commandLines = (lines: readonly string[]): string[] => lines.join('\n').split(/(?<!\\)\n/)
const filledIn = (line: string) => line.replace(/REQUESTKEY|TARGET|KEY/g, (word) => WORDS[word])

/** The commands that were called; they record their call and do nothing else. */
const runs: string[] = []
const recording = commandRows.map((row) => ({
  ...row,
  run: () => {
    runs.push(row.name)
    return 0
  },
}))

function installed(name: string, script: string): string {
  const bin = join(folder, name)
  mkdirSync(bin)
  writeFileSync(join(bin, 'newcut'), `#!/bin/sh\nexec '${process.execPath}' --no-warnings '${script}' "$@"\n`)
  chmodSync(join(bin, 'newcut'), 0o755)
  return `${bin}:${process.env.PATH}`
}

// Some examples overwrite these files.
beforeEach(() => {
  writeFileSync(join(folder, 'miner.yaml'), `account: k:${KEY}\npublic-key: ${KEY}\n`)
  writeFileSync(join(folder, 'work.bin'), '')
  writeFileSync(join(folder, 'header.hex'), headerRecords[0].header_hex)
  writeFileSync(join(folder, 'token.repl'), '(expect "a sum" 3 (+ 1 2))\n')
  writeFileSync(join(folder, 'sale.repl'), '(expect "a product" 6 (* 3 2))\n')
  mkdirSync(join(folder, '.config/fish/completions'), { recursive: true })
})

const examples: Readonly<Record<string, readonly string[]>> = {
  newcut: programExamples,
  ...Object.fromEntries(commandRows.map((row) => [row.name, row.examples])),
}
/** The program for its options; none of its commands runs. */
const program = programOf(silentContext, commandRows, { code: 0, format: 'text' }, null)
const commandNames = commandRows.map(({ name }) => name)
const listedNames = commandRows.filter(({ listedIn }) => listedIn === undefined).map(({ name }) => name)
const helpOf = async (...words: string[]) => (await run([...words, '--help'])).out

describe('newcut --help', () => {
  it('the help of every command has two to four examples', async () => {
    const listed = [...(await helpOf()).split('Mining:')[1].matchAll(/^ {2}([a-z]+(?: [a-z]+)?)(?= )/gm)].map(
      ([, name]) => name,
    )
    expect(listed.filter((name) => !/^(help$|newcut)/.test(name)).toSorted()).toEqual(listedNames.toSorted())
    for (const [name, lines] of Object.entries(examples)) {
      const help = await helpOf(...(name === 'newcut' ? [] : name.split(' ')))
      expect(help).toContain(`Examples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`)
      expect(commandLines(lines).length).toBeGreaterThanOrEqual(2)
      expect(commandLines(lines).length).toBeLessThanOrEqual(4)
    }
  })

  it('newcut --help shows examples first, and commands by what people do with them', async () => {
    const headings = [...(await helpOf()).matchAll(/^([A-Z][a-z]+)[a-z ]*:$/gm)].map(([, heading]) =>
      heading.toLowerCase(),
    )
    expect(headings).toEqual(['examples', ...commandGroups, 'options'])
  })

  it.each([[''], ...commandNames.map((name) => [name])])(
    '%s fits one screen, and has one line for each option',
    async (name) => {
      const words = name === '' ? [] : name.split(' ')
      const lines = (await helpOf(...words)).trimEnd().split('\n')
      // `newcut mine` and `newcut config` have the options of a miner: two screens.
      expect(lines.length).toBeLessThanOrEqual(['mine', 'config'].includes(name) ? 100 : 50)
      expect(lines.filter((line) => line.length > 80)).toEqual([])
      const options = lines.filter((line) => /^ {2}(?:-[hv], )?--/.test(line))
      expect(options.filter((line) => !/^ {2}(?:-[hv], )?--[a-z-]+(?: <\S+>)? +\S/.test(line))).toEqual([])
      expect(lines.filter((line) => /^ {12,}\S/.test(line))).toEqual([])
    },
  )

  it('--help-all has every option in 80 columns, with its details and its default', async () => {
    for (const name of commandNames) {
      const command = program.commands.find((each) => each.name() === name)
      const { code, out } = await run([...name.split(' '), '--help-all'])
      expect(code).toBe(0)
      expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
      const text = out.replace(/\s+/g, ' ')
      for (const option of command?.options ?? []) {
        expect(text).toContain(option.flags)
        if (!(option instanceof RowOption)) continue
        if (option.more !== undefined) expect(text).toContain(option.more)
        if (option.standard !== null) expect(text).toContain(`Default: ${option.standard}.`)
      }
    }
  })

  it('the help of a command names --help-all where --help leaves options out', async () => {
    for (const name of commandNames) {
      const count = async (flag: string) =>
        [...(await run([...name.split(' '), flag])).out.matchAll(/^ {2}(?:-\w, )?--/gm)].length
      const [shown, all] = [await count('--help'), await count('--help-all')]
      const last = `newcut ${name} --help-all explains all ${all} options.\n`
      expect((await helpOf(...name.split(' '))).endsWith(last)).toBe(shown < all)
    }
  })

  it('the help of newcut bench lists every suite, each in a line of at most 80 columns', async () => {
    const help = await helpOf('bench')
    for (const [name, what] of Object.entries(benchSuites)) {
      const line = help.split('\n').find((each) => each.startsWith(`  ${name} `)) ?? ''
      expect(line).toContain(what)
      expect(line.length).toBeLessThanOrEqual(80)
    }
  })

  it('newcut --help has the short form -h, and --version has -v', async () => {
    expect((await run(['devnet', '-h'])).out).toBe(await helpOf('devnet'))
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    for (const flag of ['-v', '--version']) expect(await run([flag])).toMatchObject({ code: 0, out: `${version}\n` })
  })

  it('newcut prints its version for --version or -v as the first word, whatever follows', async () => {
    const printed = { code: 0, out: `${packageVersion}\n`, err: '' }
    for (const first of versionFlags) {
      const words = [first, 'mine', '--nosuch', '--help']
      expect(await run(words)).toMatchObject(printed)
      // A process answers before it loads the commands.
      expect(await runProcess(words)).toMatchObject(printed)
    }
  })

  it('newcut prints its version for --version after a command', async () => {
    expect(await runProcess(['mine', '--version'])).toMatchObject({ code: 0, out: `${packageVersion}\n`, err: '' })
  })
})

describe('newcut without arguments', () => {
  it('newcut without arguments shows the first steps and every command in one screen of 80 x 24', async () => {
    const { code, out, err } = await run([])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const lines = out.split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(out.indexOf('newcut mine')).toBeLessThan(out.indexOf('Commands:'))
    const names = new Set(out.split('Commands:')[1].match(/[a-z]+(?: [a-z]+)?(?=,|\n)/g))
    expect(listedNames.filter((name) => !names.has(name))).toEqual([])
  })
})

describe('the examples', () => {
  /**
   * The newcut calls that a shell makes of a line. The recorder ends each word with a null byte and each call with an
   * empty word.
   */
  function calledBy(line: string): string[][] {
    const calls = join(folder, 'calls')
    writeFileSync(calls, '')
    const recorder = `newcut() { printf '%s\\0' "$@" '' >> '${calls}'; }`
    const options = { cwd: folder, env: { PATH: process.env.PATH, HOME: folder }, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync('bash', ['-c', `set -e; ${recorder}; ${filledIn(line)}`], options)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const words = readFileSync(calls, 'utf8').split('\0').slice(0, -1)
    return words
      .join('\n')
      .split(/\n$|\n\n/)
      .filter((text) => text !== '')
      .map((text) => text.split('\n'))
  }

  // completion.test.ts runs the zsh script in zsh.
  const lines = Object.values(examples).flatMap(commandLines)
  it.each(lines.filter((line) => !line.includes('completion zsh')))(
    'the example in the help parses: %s',
    async (line) => {
      const calls = calledBy(line)
      expect(calls.length).toBeGreaterThan(0)
      let said = ''
      const output = { write: (text: string) => (said += text) }
      const terminal = { ...silentContext, out: output, err: output }
      runs.length = 0
      // Without curl's node `inspect` gets no input, but its command line must still parse.
      for (const words of calls) {
        const args = words.map((word) => (word === 'miner.yaml' ? join(folder, word) : word))
        expect(await runProgram(args, terminal, recording), said).toBe(0)
      }
      if (!line.includes('help')) expect(runs.length).toBe(calls.length)
    },
  )
})

describe('the examples that end by themselves', () => {
  let devnet: Devnet
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    devnet = await startDevnet({ port: 0, autoMine: { kind: 'on-arrival', confirmations: 5 } })
    env = { PATH: installed('running', `${dist}main.js`), HOME: folder, NEWCUT_NODE: devnet.url }
  })
  afterAll(() => devnet.close())

  const ending = [
    ...['keygen', 'config', 'blocks', 'local', 'inspect', 'test'].flatMap((name) => commandLines(examples[name])),
    examples.balance[0],
    examples.send[0],
    commandLines(examples.send)[2],
    examples.transfer[0],
    'newcut help mine',
  ]
  it.each(rotating(ending, ending.length / 3))('the example in the help runs: %s', async (line) => {
    const ours = filledIn(line).replace('http://127.0.0.1:1848', devnet.url)
    // Rejects with the stderr text unless the exit code is 0.
    const { stdout } = await promisify(execFile)('bash', ['-c', `set -eo pipefail; ${ours}`], { cwd: folder, env })
    if (!line.includes('>') && !line.startsWith('newcut blocks')) expect(stdout).not.toBe('')
  })
})
