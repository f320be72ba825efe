/** Judges command lines of documents: options by the program itself, calls of `curl` by what is served. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { commandRows } from '../../src/commands/commands.ts'
import { setupOf } from '../../src/commands/input/miner-setup.ts'
import { programOf, runProgram } from '../../src/faces/cli/program.ts'
import { silentContext } from '../cli/silent-context.ts'
import { root } from './blocks.ts'
import { servedRoutes } from './routes.ts'
import type { Command } from './shell.ts'

const KEY = 'ab'.repeat(32)
/** Words in capitals that stand for something of the user's -> an example. */
const PLACEHOLDERS: readonly (readonly [RegExp, string])[] = [
  [/\bREQUEST_?KEY\b/g, 'A'.repeat(43)],
  [/\bTARGET\b/g, 'ff'.repeat(32)],
  [/\b(?:PUBLIC_)?KEY\b|\bPOOL(?=$)/g, KEY],
  [/\bPORT\b/g, '1917'],
  [/\bDIFFICULTY\b/g, '1000'],
  [/\bN\b/g, '3'],
]

const filledIn = (word: string) => PLACEHOLDERS.reduce((text, [name, value]) => text.replace(name, value), word)

/** Rows that check what a command checks before it does anything. */
const checking = commandRows.map((row) => ({
  ...row,
  run: (_: readonly string[], config: Parameters<typeof row.run>[1]) => {
    if (row.name === 'mine') setupOf(config as Parameters<typeof setupOf>[0], {})
    return 0
  },
}))

/** @returns what newcut says about a command line that it does not understand, or null. */
async function newcutProblem(words: readonly string[], environment: Command['assignments']): Promise<string | null> {
  let said = ''
  const output = {
    write: (text: string) => {
      said += text
      return true
    },
  }
  const terminal = { ...silentContext, out: output, err: output, environment: { ...environment } }
  // Its file is the reader's own.
  const withoutFile = words.filter((word, i) => word !== '--config' && words[i - 1] !== '--config')
  const code = await runProgram(withoutFile.map(filledIn), terminal, checking)
  return code === 0 ? null : said.trim()
}

/** Command -> its flags with dashes. */
const flagsOf: ReadonlyMap<string, readonly string[]> = new Map(
  programOf(silentContext, commandRows, { code: 0, format: 'text' }, null).commands.map((command) => [
    command.name(),
    [...command.options.flatMap(({ long }) => long ?? []), '--help', '--help-all'],
  ]),
)

/**
 * Judges a command within a sentence, which may be a part of one: `newcut send --no-preflight`.
 *
 * @returns why the command or a flag does not exist, or null.
 */
export function mentionProblem(text: string): string | null {
  const [first, second, ...rest] = text.split(/\s+/).slice(1)
  if (first === undefined || first === 'COMMAND' || first === 'help' || first.startsWith('-')) return null
  const isPair = flagsOf.has(`${first} ${second}`)
  const flags = flagsOf.get(isPair ? `${first} ${second}` : first)
  if (flags === undefined) return `${text}: no such command`
  const words = isPair || second === undefined ? rest : [second, ...rest]
  const unknown = words.find((word) => /^--[a-z]/.test(word) && !flags.includes(word.split('=')[0]))
  return unknown === undefined ? null : `${text}: ${unknown} is no option of it`
}

const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

/** `npm start -- OPTIONS` and the like are commands of newcut. */
const NPM_COMMANDS: Readonly<Record<string, string>> = { start: 'mine', bench: 'bench' }

async function npmProblem(words: readonly string[]): Promise<string | null> {
  const [verb, ...rest] = words[0] === 'run' ? words.slice(1) : words
  if (['ci', 'install', 'i', 'init', 'link', 'pack'].includes(verb)) return null
  if (!(verb in scripts)) return `package.json has no script ${verb}`
  const command = NPM_COMMANDS[verb]
  const given = rest[0] === '--' ? rest.slice(1) : rest
  return command === undefined ? null : newcutProblem([command, ...given], {})
}

const pathExists = (path: string) => existsSync(path.startsWith('/') ? path : `${root}${path}`)

function nodeProblem(words: readonly string[], saved: readonly string[]): Promise<string | null> | string | null {
  const at = words.findIndex((word) => !word.startsWith('-'))
  if (at < 0) return null
  const script = words[at].replace(/^\$PWD\//, '')
  if (script === 'dist/src/main.js') return newcutProblem(words.slice(at + 1), {})
  return pathExists(script) || saved.includes(script) ? null : `no such file: ${script}`
}

/** The options of curl that documents use, and whether a value follows. */
const CURL_OPTIONS: Readonly<Record<string, boolean>> = {
  ...{ '-s': false, '-S': false, '-sS': false, '-f': false, '-fsS': false, '-N': false, '-i': false, '-L': false },
  ...{ '-fsSL': false, '-k': false, '-H': true, '--header': true, '-d': true, '--data': true, '-X': true },
  ...{ '--request': true, '-o': true, '-u': true, '--max-time': true },
}

export interface CurlCall {
  readonly method: string
  readonly url: string
  readonly headers: readonly string[]
  readonly body: string | null
}

/** A call of curl. @throws Error for an option that is not in CURL_OPTIONS. */
export function curlCall(words: readonly string[]): CurlCall {
  const headers: string[] = []
  let [method, url, body]: [string | null, string, string | null] = [null, '', null]
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (!word.startsWith('-')) url = word
    else if (!(word in CURL_OPTIONS)) throw new Error(`curl ${word}: not an option that this test knows`)
    else if (CURL_OPTIONS[word]) {
      const value = words[++at]
      if (word === '-H' || word === '--header') headers.push(value)
      else if (word === '-d' || word === '--data') body = value
      else if (word === '-X' || word === '--request') method = value
    }
  }
  return { method: method ?? (body === null ? 'GET' : 'POST'), url, headers, body }
}

function curlProblem(words: readonly string[]): string | null {
  const { method, url, body } = curlCall(words)
  const [, host, path] = /^(?:https?:\/\/)?([^/?#]*)([^?#]*)/.exec(url) ?? []
  if (!/^(?:127\.0\.0\.1|localhost|\[::1\]|HOST|NODE|[\d.]+)(?::|$)/.test(host)) return null
  return requestProblem(method, path || '/', body)
}

/** @returns why a request is not served, or its JSON body not accepted; or null. */
export function requestProblem(method: string, path: string, body: string | null): string | null {
  const route = servedRoutes.find((each) => (each.method ?? method) === method && each.matches(path))
  if (route === undefined) return `nothing is served at ${method} ${path}`
  return body === null || route.accepts === undefined || route.accepts(JSON.parse(body))
    ? null
    : `${method} ${path} does not accept ${body}`
}

/** @returns the arguments of newcut in a call that runs its image, or runs it in a container or a pod; else null. */
function innerNewcut(words: readonly string[]): readonly string[] | null {
  const at = words.includes('run')
    ? words.findIndex((word) => /^(?:\S+\/)?newcut:[\w.-]+$/.test(word))
    : words.indexOf('newcut', words.indexOf(words.includes('--') ? '--' : 'exec'))
  return at < 0 || !words.some((word) => word === 'run' || word === 'exec') ? null : words.slice(at + 1)
}

/** Programs that start others, and those that documents only name: their options are not ours. */
const CONTAINERS = new Set(['docker', 'podman', 'kubectl', 'docker-compose', 'podman-compose'])
const OTHERS = new Set(
  (
    'alias awk bash cat cd chmod chown cmake cp curl diff echo export gh git grep gunzip head install journalctl jq kill ln ls ' +
    'groupadd make mkdir mv nats nats-server nk nsc nvidia-smi openssl promtool sed sleep source ssh systemctl ' +
    'systemd-analyze tail tar tee test touch udevadm useradd usermod vulkaninfo wget yamllint apt apt-get sha256sum read printf ' +
    'for systemd-creds gcc cc nvcc rm lscpu'
  ).split(' '),
)

/**
 * Judges a command of a document.
 *
 * @param saved - Files that the document has the reader save.
 * @returns why the command is wrong, or null.
 */
export async function problemOf(command: Command, saved: readonly string[]): Promise<string | null> {
  const { assignments } = command
  const words = command.words.filter((word, i) => i > 0 || word !== 'sudo')
  const [program, ...rest] = words
  const ofUs = Object.fromEntries(Object.entries(assignments).filter(([name]) => name.startsWith('NEWCUT_')))
  switch (program) {
    case 'newcut':
      return newcutProblem(rest, ofUs)
    case 'sudo':
    case 'nohup':
    case 'exec':
      return problemOf({ ...command, words: rest }, saved)
    case 'npx':
      return rest[0] === 'newcut' ? newcutProblem(rest.slice(1), ofUs) : null
    case 'npm':
      return npmProblem(rest)
    case 'node':
      return nodeProblem(rest, saved)
    case 'curl':
      return curlProblem(rest)
    case '.ci/run':
      return pathExists(program) ? null : 'no such file'
  }
  if (CONTAINERS.has(program)) {
    const inner = innerNewcut(rest)
    return inner === null ? missingPath(rest) : newcutProblem(inner, {})
  }
  if (OTHERS.has(program)) return missingPath(rest)
  return `${program}: a program that this test does not know`
}

/** Files of the project that a command names have to be there. */
function missingPath(words: readonly string[]): string | null {
  const folders = readdirSync(root).filter((name) => ['bench', 'deploy', 'grafana', 'src', 'scripts'].includes(name))
  const ours = words.filter((word) => folders.some((folder) => word.startsWith(`${folder}/`)))
  const missing = ours.find((path) => !pathExists(path))
  return missing === undefined ? null : `no such file: ${missing}`
}
