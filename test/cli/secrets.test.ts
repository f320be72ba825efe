/** No secret that a user gives appears in any output: console, JSON records, errors, metrics, summary. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, it } from 'vitest'
import { paceSearch } from '../pace.ts'
import { run, startHere, stopAll } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-secrets-'))
afterEach(stopAll)
paceSearch()
afterAll(() => rmSync(folder, { recursive: true }))

const SECRET = 'hunter2'

function fileWith(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const addresses = [
  `http://me:${SECRET}@127.0.0.1:1`,
  `https://${SECRET}@node:1848/path`,
  `me:${SECRET}@127.0.0.1:1848`,
  `ftp://me:${SECRET}@127.0.0.1`,
  `http://me:x/${SECRET}@127.0.0.1`,
  `http://127.0.0.1:1/?key=${SECRET}`,
]

it.each(addresses)('--node %s is refused without printing the secret, wherever it is given', async (address) => {
  const file = fileWith('node.yaml', `node: ${JSON.stringify(address)}\n`)
  const calls: [args: string[], env?: Record<string, string>][] = [
    [['mine', '--node', address]],
    [['mine', '--node', address, '--log', 'json']],
    [['mine', `--node=${address}`, '--fail-fast', '--http', '127.0.0.1:0']],
    [['mine'], { NEWCUT_NODE: address }],
    [['mine', '--config', file, '--log', 'json']],
    [['config', '--node', address]],
    [['config', '--config', file]],
    [['local', '1', '--node', address]],
    [['balance', 'k:x', '--node', address]],
  ]
  for (const [args, env] of calls) {
    const { code, out, err } = await run(args, env)
    const shown = out + err
    expect(shown, String(args)).toContain('expected the address of a node')
    expect(code, String(args)).toBe(2)
    expect(shown).toMatch(/without user, password and query/)
    expect(shown).toMatch(/\*\*\*/)
    expect(shown).not.toContain(SECRET)
  }
})

it.each([
  [['mine', '--node', `http://me:${SECRET}@a:1`, '--node', 'http://a:1'], /expected the address of a node/],
  [['mine', `--nod=http://me:${SECRET}@a:1`], /no such option; did you mean --node\?/],
  [['mine', '-o', `http://me:${SECRET}@a:1`], /-o: no such option/],
  [['mine', `-ohttp://me:${SECRET}@a:1`], /no such option; did you mean --node\?/],
  [[`--node=http://me:${SECRET}@a:1`], /a command comes first/],
  [[`http://me:${SECRET}@a:1`], /no such command/],
])('the error for %j does not print the secret', async (args, message) => {
  for (const format of [[], ['--log', 'json']]) {
    const { code, out, err } = await run([...args, ...format])
    expect(out + err).toMatch(message)
    expect(code).toBe(2)
    expect(out + err).not.toContain(SECRET)
  }
})

it('no output contains the arguments of an external command', async () => {
  // A program that takes a moment, as real searches do.
  const worker = fileWith('worker.mjs', "setTimeout(() => process.stdout.write('0000000000000001'), 100)")
  const command = `${process.execPath} ${worker} --token ${SECRET}`
  for (const [log, expected] of [
    ['text', process.execPath],
    ['json', '"event":"ready"'],
  ]) {
    const args = ['--engine', 'external', '--command', command, '--http', '127.0.0.1:0', '--log', log]
    const miner = startHere(['mine', '--difficulty', '1T', '--graph', 'pair', ...args])
    const [, url] = await miner.sees(/metrics: (http:\/\/127\.0\.0\.1:\d+)/)
    await miner.sees(/hardware/)
    const answers = ['/metrics', '/api/summary', '/healthz'].map(async (path) => (await fetch(url + path)).text())
    for (const text of await Promise.all(answers)) {
      expect(text).toMatch(/command|"status"/)
      expect(text).not.toContain(SECRET)
    }
    const { out, err } = await miner.stop()
    expect(out).toContain(expected)
    expect(out + err).not.toContain(SECRET)
  }
})

it('no output contains the token for control', async () => {
  const token = `${SECRET}-${SECRET}`
  const file = fileWith('token.yaml', `http-token: ${token}\n`)
  for (const [args, env] of [
    [['config', '--http-token', token]],
    [['config', '--config', file]],
    [['config'], { NEWCUT_HTTP_TOKEN: token }],
  ] as [string[], Record<string, string>?][]) {
    const { code, out, err } = await run(args, env)
    expect(out + err).toContain('# http-token: set, and not shown')
    expect(code).toBe(0)
    expect(out + err).not.toContain(SECRET)
  }
  const wrong = `${SECRET} ${SECRET}`
  for (const [args, env] of [
    [['mine', '--http-token', wrong]],
    [['mine', '--http-token', token, '--http-token', token]],
    [['mine', '--config', fileWith('wrong.yaml', `http-token: "${wrong}"\n`)]],
    [['mine'], { NEWCUT_HTTP_TOKEN: wrong }],
    [['mine', '--http', 'off', '--http-token', token]],
  ] as [string[], Record<string, string>?][]) {
    const { code, out, err } = await run(args, env)
    expect(out).toBe('')
    expect(err).toMatch(/http-token|HTTP_TOKEN/)
    expect(code).toBe(2)
    expect(err).not.toContain(SECRET)
  }
  const miner = startHere([
    'mine',
    '--difficulty',
    '1M',
    '--gpu',
    'none',
    '--threads',
    '1',
    '--kernel',
    'js',
    '--http',
    '127.0.0.1:0',
    '--http-token',
    token,
  ])
  const [, url] = await miner.sees(/metrics: (http:\/\/127\.0\.0\.1:\d+)/)
  const paths = ['/metrics', '/api/summary', '/2/summary', '/2/backends', '/hiveos', '/mmpos', '/json_rpc']
  const answers = paths.map(async (path) => (await fetch(url + path)).text())
  for (const text of await Promise.all(answers)) expect(text).not.toContain(SECRET)
  const call = { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{"id":1,"method":"stop"}' }
  expect((await fetch(`${url}/json_rpc`, call)).status).toBe(200)
  const { code, out, err } = await miner.ended
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/summary/)
  expect(out).not.toContain(SECRET)
})

it('the journal of solutions does not contain the arguments of an external command', async () => {
  const state = join(folder, 'state')
  const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
  const command = `TOKEN=${SECRET} ${process.execPath} ${main} solve --threads 1`
  const args = ['--engine', 'external', '--command', command, '--state', state, '--http', 'off', '--log', 'json']
  const { code, out, err } = await run(['mine', '--difficulty', '1k', '--graph', 'pair', '--blocks', '1', ...args])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const journal = readdirSync(state).map((name) => readFileSync(join(state, name), 'utf8'))
  expect(journal.join('')).toMatch(/"step":"confirmed"/)
  expect(journal.join('') + out).not.toContain(SECRET)
})

it('a secret key in place of another option is not printed', async () => {
  const key = 'c0ffee'.repeat(11).slice(0, 64)
  const file = fileWith('broken.yaml', `# secret-key: ${key}\npublic-key: [${key}\n`)
  const calls: [args: string[], env?: Record<string, string>][] = [
    [['mine', '--config', file]],
    [['mine'], { NEWCUT_SECRET_KEY: key }],
    [['mine', '--config', fileWith('secret.yaml', `secret-key: ${key}\n`)]],
  ]
  for (const [args, env] of calls) {
    const { code, out, err } = await run(args, env)
    expect(code, String(args.slice(0, 2))).toBe(2)
    expect(err).toMatch(/^newcut: .* \[[A-Z_]+\]\n$/)
    expect(out + err).not.toContain(key)
  }
})
