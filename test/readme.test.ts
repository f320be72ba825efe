import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { NodeClient } from '../src/client/node/client.ts'
import { operations } from '../src/ground/schema/operations.ts'
import { run, startScript, stopAll } from './cli/run.ts'
import { interfaceEndpoints } from './devnet/interface.ts'
import { commandsIn, difference, samplesOf } from './samples.ts'

const root = new URL('../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')
const packageJson = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const nodeInterface = readFileSync(new URL('docs/NODE-INTERFACE.md', root), 'utf8')

/** Rows of the endpoint table. */
const rows = [...nodeInterface.matchAll(/^\| `(GET|POST|PUT) (\/\S+)` +\| `(\w+)` +\|.*\|$/gm)].map(
  ([, method, path, client]) => ({ method, path, client }),
)

it('README has the two commands near its top, and the picture before them', () => {
  const [head] = readme.split(/^## Mine$/m)
  const commands = commandsIn(head, 'Try it').filter((command) => command.startsWith('npm '))
  expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test', 'npm link'])
  const [first] = head.split(/^## /m)
  expect(first).toMatch(/^!\[.+\]\(docs\/images\/newcut\.png\)$/m)
})

it('README can be read in two minutes: at most 110 lines', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(110)
})

it('the picture of the README is a PNG of 1,800 pixels in width, below 200 kB', () => {
  const picture = readFileSync(new URL('docs/images/newcut.png', root))
  expect(picture.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
  expect(picture.readUInt32BE(16)).toBe(1800)
  expect(picture.length).toBeLessThan(200_000)
})

it('README names files and folders that a reader has: of the checkout, of a command before, or of the reader', () => {
  const named = [...readme.matchAll(/^(?!git |npm )\w[^#\n]*$/gm)].flatMap(
    ([line]) => line.match(/\S+\.(?:repl|pact|yaml|json|key)\b/g) ?? [],
  )
  const made = [...readme.matchAll(/^newcut (?:keygen|init) (\S+)$/gm)].map(([, name]) => name)
  expect(made).toEqual(['my.key', 'my-contracts'])
  expect(named.filter((name) => !made.includes(name) && !existsSync(new URL(name, root)))).toEqual([])
})

it('README and package.json name one repository', () => {
  const { repository, homepage, bugs } = packageJson
  const [, address] = /^git\+(https:\/\/.+)$/.exec(repository.url) ?? []
  expect(homepage).toBe(`${address}#readme`)
  expect(bugs.url).toBe(`${address}/issues`)
  expect(commandsIn(readme, 'Try it')[0]).toBe(`git clone ${address} newcut && cd newcut`)
})

describe('the samples in README', () => {
  afterEach(stopAll)

  const samples = samplesOf(readme)

  it('the samples in README include npm start', () => {
    expect(samples.map(({ command }) => command)).toEqual(['npm start -- --blocks 5'])
  })

  it.each(samples)('the sample of $command prints its output, line by line', async ({ command, lines }) => {
    const [, script] = /^node (\S+) mine$/.exec(packageJson.scripts.start) ?? []
    const args = command.replace('npm start -- ', '').split(' ')
    const path = fileURLToPath(new URL(script, root))
    // The default port of the dashboard may be taken, and a GPU would add a line for each device.
    const { code, out, err } = await startScript(path, ['mine', ...args, '--http', '127.0.0.1:0', '--gpu', 'none'])
      .ended
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(difference(lines, out.trimEnd().split('\n'))).toBeNull()
  })

  it('the commands of the sample Devnet run, and do what README says', async () => {
    const [devnet, ...calls] = commandsIn(readme, 'Devnet')
    const url = await startedNode(devnet)
    const answers: string[] = []
    for (const call of calls) {
      const { code, out } = await run(wordsOf(call), { NEWCUT_NODE: url })
      expect(code, call).toBe(0)
      answers.push(out)
    }
    expect(answers[0]).toMatch(/^made \d+ blocks on 20 chains; heights \d to 5\n$/)
    expect(answers[1]).toMatch(/^replaced 3 blocks of chain 0 and \d+ of other chains; /)
  })

  it('the commands of the sample Contracts run against the network of the first', async () => {
    const commands = commandsIn(readme, 'Contracts')
    const devnet = commands.find((line) => line.startsWith('newcut devnet')) ?? ''
    const url = await startedNode(devnet)
    const project = join(temporaryFolder(), 'my-contracts')
    const printed: string[] = []
    for (const line of commands.filter((each) => each !== devnet)) {
      const args = wordsOf(line).map((word) => (word === 'my-contracts' ? project : word))
      const { code, out } = await run(args, { NEWCUT_NODE: url })
      expect(code, line).toBe(0)
      printed.push(out)
    }
    expect(printed[1]).toContain('9 passed, 0 failed')
    expect(printed[2]).toContain('"account": "sender00"')
    expect(printed[3]).toBe('moved 1.5 coins from sender00 to sender01, from chain 0 to chain 3\n')
  })

  it('the sample Mine mines for the key in a file of keygen', async () => {
    const mine = commandsIn(readme, 'Mine').find((line) => line.startsWith('newcut mine')) ?? ''
    const url = await startedNode('newcut devnet --difficulty 1k')
    const file = join(temporaryFolder(), 'my.key')
    const { out: key } = await run(['keygen'])
    writeFileSync(file, key)
    const args = wordsOf(mine.replace('http://HOST:1848', url).replace('my.key', file))
    const { code, out } = await startScript(MAIN, [...args, '--blocks', '1', '--http', 'off']).ended
    expect(code).toBe(0)
    const [, publicKey] = /^public-key: "?([0-9a-f]{64})/m.exec(key) ?? []
    expect(out).toContain(`\npaid: k:${publicKey} (keys-all)\n`)
  })
})

describe('a sample', () => {
  const sample = [
    'machine: A, 2 threads, Node 20.20.2',
    'paid: k:3b[...]29, yours',
    '[...]',
    '12:00:01 found  5 in 3 ms',
  ]
  const printed = [
    'machine: B C, 64 threads, Node 22.1.0',
    'paid: k:3b6a29, yours',
    '12:00:01 other',
    '09:30:00 found 41 in 1 m 2 s',
  ]

  it('a sample matches other numbers, and any text that it leaves out', () => {
    expect(difference(sample, printed)).toBeNull()
    expect(difference(sample, [printed[0], printed[1], printed[3]])).toBeNull()
  })

  it('a sample differs by a word, by a line too many and by a line too few', () => {
    expect(difference(sample, [...printed.slice(0, 3), '09:30:00 lost 41 in 3 ms'])).toBe(`not printed: ${sample[3]}`)
    expect(difference(sample, [printed[0], ...printed])).toMatch(/^printed: machine: B.*\ninstead of: paid/)
    expect(difference(sample, [...printed, 'more'])).toBe('not in the sample: more')
    expect(difference(sample, printed.slice(0, 3))).toBe(`not printed: ${sample[3]}`)
    expect(difference(sample.slice(0, 2), printed.slice(0, 1))).toBe(`not printed: ${sample[1]}`)
  })
})

it('NODE-INTERFACE.md lists every endpoint of the interface once', () => {
  const listed = rows.map(({ method, path }) => `${method} ${path}`)
  expect(listed.toSorted()).toEqual(interfaceEndpoints.map(([method, , path]) => `${method} ${path}`).toSorted())
})

it('NODE-INTERFACE.md names the right client method for each endpoint', () => {
  for (const { method, path, client } of rows) {
    expect(operations[client as keyof typeof operations]).toMatchObject({ method, path })
    expect(typeof NodeClient.prototype[client as keyof NodeClient], client).toBe('function')
  }
})

it('every endpoint of the interface has a file that tests its path', () => {
  for (const [, , path, test] of interfaceEndpoints) {
    const file = new URL(`test/devnet/${test}.test.ts`, root)
    expect(existsSync(file), test).toBe(true)
    const [last] = path
      .split('/')
      .filter((part) => !part.startsWith('{'))
      .slice(-1)
    // The name as the end of a path in the code, not as a word anywhere.
    const asPath = new RegExp(`['"\`/]${last}(?=['"\`?/$])`)
    expect(asPath.test(readFileSync(file, 'utf8')), path).toBe(true)
  }
})

/** The file that `newcut` runs after `npm link`. */
const MAIN = fileURLToPath(new URL(packageJson.bin.newcut, root))

/** The arguments of a command after `newcut`; arguments in single quotes may contain spaces. */
function wordsOf(command: string): string[] {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain)
  expect(words[0]).toBe('newcut')
  return words.slice(1)
}

/** Starts `newcut devnet` on a free port. Resolves with its address. */
async function startedNode(command: string): Promise<string> {
  const node = startScript(MAIN, [...wordsOf(command), '--port', '0'])
  const [, url] = await node.sees(/newcut mine --node (http:\S+)/)
  return url
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
