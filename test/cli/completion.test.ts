/** Completion scripts in real shells: the test types keys on a terminal and runs the completed command line. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandRows } from '../../src/commands/commands.ts'
import { lackOf } from '../needs.ts'
import { until } from '../wait.ts'
import { run } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Why the test cannot type into a terminal of `script`: other systems have a `script` with other options. */
const terminalLack =
  lackOf('script') ??
  (spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout.includes('util-linux')
    ? null
    : 'script is not that of util-linux: apt-get install bsdutils')

/** How to start each shell without the user's configuration, and how to load the completion script. */
const SHELLS = {
  bash: { start: 'bash --norc --noprofile -i', source: 'source newcut.bash' },
  zsh: { start: 'zsh -f -i', source: 'autoload -U compinit; compinit -u -D; source newcut.zsh' },
  fish: { start: 'fish --no-config -i', source: 'source newcut.fish' },
}

type Shell = keyof typeof SHELLS

const shells = Object.keys(SHELLS) as Shell[]

/** Typed text, where a tab completes an unambiguous prefix, and the arguments that the program must receive. */
const TYPED: readonly (readonly [string, readonly string[]])[] = [
  ['newcut devn\t--auto-m\tcon\t', ['devnet', '--auto-mine', 'constant:2s']],
  ['newcut mine --ker\twa\t', ['mine', '--kernel', 'wasm']],
  ['newcut mine --con\t', ['mine', '--confi']],
  ['newcut bench kern\tcod\t', ['bench', 'kernels', 'codec']],
  ['newcut completion fi\t', ['completion', 'fish']],
  ['newcut send --key sender03 cont\t', ['send', '--key', 'sender03', 'contract one.pact']],
  ['newcut devnet --data stor\t', ['devnet', '--data', 'stored-network']],
  ['newcut keygen cont\t', ['keygen', 'contract one.pact']],
  ['newcut rigs ch\trig:1 --mak\tka3-\t', ['rigs', 'check', 'rig:1', '--maker', 'ka3-2023']],
  ['newcut keygen --threads=\t', ['keygen', '--threads=']],
]

/**
 * Removes differences between shells: zsh joins flags and values with `=`, and some shells append a slash to folders.
 */
const plain = (words: readonly string[]): string[] =>
  words.flatMap((word) => word.replace(/\/$/, '').split(/(?<=^--[a-z-]+)=(?=.)/))

/** Types a line and Enter; resolves with the arguments that the program received. */
async function typed(shell: Shell, keys: string): Promise<string[]> {
  const record = join(folder, 'arguments')
  rmSync(record, { force: true })
  const { start, source } = SHELLS[shell]
  const child = spawn('script', ['-qfec', start, '/dev/null'], {
    cwd: folder,
    env: { PATH: `${folder}/bin:${process.env.PATH}`, HOME: folder, TERM: 'dumb', LANG: 'C.UTF-8' },
  })
  child.stdin.on('error', () => undefined)
  let shown = ''
  child.stdout.on('data', (bytes) => {
    shown += bytes
  })
  try {
    // The shell prints the mark as one word; the typed text has it in two pieces.
    child.stdin.write(`${source}; echo rea''dy\r`)
    await until(() => shown.includes('ready'))
    child.stdin.write(`${keys}\r`)
    await until(() => existsSync(record) && readFileSync(record, 'utf8').endsWith('end\0'))
    return readFileSync(record, 'utf8').split('\0').slice(0, -2)
  } finally {
    child.kill('SIGKILL')
  }
}

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'stored-network'))
  writeFileSync(join(folder, 'contract one.pact'), '')
  const recorder = join(folder, 'bin/newcut')
  writeFileSync(
    recorder,
    `#!/bin/sh\nfor word; do printf '%s\\0' "$word"; done > ${folder}/arguments\nprintf 'end\\0' >> ${folder}/arguments\n`,
  )
  chmodSync(recorder, 0o755)
  for (const shell of shells) {
    const { code, out, err } = await run(['completion', shell])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    writeFileSync(join(folder, `newcut.${shell}`), out)
  }
})

describe.each(shells)('newcut completion %s', (shell) => {
  it(`newcut completion ${shell} prints a script that the shell accepts`, ({ skip }) => {
    const lack = lackOf(shell)
    if (lack !== null) return skip(lack)
    const { status, stderr } = spawnSync(shell, ['-n', `newcut.${shell}`], { cwd: folder, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.for(TYPED)(`newcut completion ${shell} completes %j`, async ([keys, expected], { skip }) => {
    const lack = lackOf(shell) ?? terminalLack
    if (lack !== null) return skip(lack)
    expect(plain(await typed(shell, keys))).toEqual(expected)
  })
})

/** The completions that bash offers for the last word, without a terminal. */
function offeredByBash(words: readonly string[]): string[] {
  const script = `source newcut.bash; COMP_WORDS=(newcut "$@"); COMP_CWORD=$#; _newcut; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...words], { cwd: folder, encoding: 'utf8' })
  return stdout.trim().split('\n')
}

function offeredByFish(words: readonly string[]): string[] {
  const script = `source newcut.fish; complete -C"newcut ${words.join(' ')}"`
  const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { cwd: folder, encoding: 'utf8' })
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[0])
}

const OFFERED: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ['mine', '--graph', ''],
    ['singleton', 'pair', 'triangle', 'petersen', 'twenty'],
  ],
  [
    ['solve', '--priority', ''],
    ['low', 'normal'],
  ],
  [
    ['devnet', '--mine-page', ''],
    ['auto', 'on', 'off'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [
    ['rigs', 'check', '--maker', 'k'],
    ['ka3', 'ka3-2023', 'kd-box'],
  ],
  [['rigs', 'c'], ['check']],
  [
    ['help', 'b'],
    ['blocks', 'balance', 'bench'],
  ],
  [['send', '--key', 'sender0'], Array.from({ length: 10 }, (_, i) => `sender0${i}`)],
]

describe.each([
  ['bash', offeredByBash],
  ['fish', offeredByFish],
] as const)('completion in %s', (shell, offered) => {
  it.for(OFFERED)(`completion in ${shell} offers for %j: %j`, ([words, expected], { skip }) => {
    const lack = lackOf(shell)
    if (lack !== null) return skip(lack)
    expect(offered(words).toSorted()).toEqual(expected.toSorted())
  })

  it(`completion in ${shell} offers every command, and every flag in its help`, async ({ skip }) => {
    const lack = lackOf(shell)
    if (lack !== null) return skip(lack)
    const { out: list } = await run(['--help'])
    // A command of two words is offered after its first word.
    const firstWords = new Set([...list.matchAll(/^ {2}([a-z]+)(?= |$)/gm)].map(([, name]) => name))
    const elsewhere = commandRows.filter(({ listedIn, name }) => listedIn !== undefined && !name.includes(' '))
    const names = [...firstWords, ...elsewhere.map(({ name }) => name)].filter((name) => name !== 'newcut')
    expect(
      offered([''])
        .filter((name) => !name.startsWith('-'))
        .toSorted(),
    ).toEqual(names.toSorted())
    for (const name of ['mine', 'devnet', 'transfer']) {
      const { out } = await run([name, '--help-all'])
      const flags = [...out.matchAll(/^ {2}(?:-h, )?(--[a-z-]+)/gm)].map(([, flag]) => flag)
      expect(flags.length).toBeGreaterThan(10)
      expect(offered([name, '--']).toSorted()).toEqual(flags.toSorted())
    }
  })
})

it('newcut completion refuses other shells', async () => {
  const { code, err } = await run(['completion', 'tcsh'])
  expect(err).toContain('expected one of bash, zsh, fish')
  expect(code).toBe(2)
})
