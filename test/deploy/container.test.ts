/** The Containerfile: its linter, the build context, its steps and its health check. No test builds it. */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { expect, it, onTestFinished } from 'vitest'
import { pack } from '../../scripts/package/npm.ts'
import { nodeVersions } from '../../scripts/test/node-versions.ts'
import { startDevnet } from '../../src/compose/devnet.ts'
import { startMiner } from '../api/running.ts'
import { runProcess } from '../cli/run.ts'
import { freePort } from '../ports.ts'
import { filesIn, healthCheck, read, runTool, temporaryFolder } from './tools.ts'

const text = read('deploy/container/Containerfile')

/** Instructions without comments, their continued lines joined. */
const instructions = text
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, '')
  .split('\n')
  .map((line) => /^([A-Z]+) (.*)$/.exec(line))
  .flatMap((match) => (match === null ? [] : [{ word: match[1], rest: match[2].trim() }]))
const all = (word: string) => instructions.filter((each) => each.word === word).map(({ rest }) => rest)

/** Whether a builder is sent a path: the last line of .dockerignore that matches it decides. */
const lines = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const isSent = (path: string) =>
  lines.reduce((sent, line) => {
    const name = line.replace(/^!/, '')
    return name === '*' || path === name || path.startsWith(`${name}/`) ? line.startsWith('!') : sent
  }, true)

it('the linter reports nothing for the Containerfile', () => {
  expect(validate(text)).toEqual([])
})

it('the linter reports an unknown instruction and an unknown flag', () => {
  expect(validate(text.replace('STOPSIGNAL', 'STOPSIGNAAL'))).toHaveLength(1)
  expect(validate(text.replace('--timeout=5s', '--timeouts=5s'))).toHaveLength(1)
})

it('both stages use an exact Node version that newcut supports, and the program runs as an unprivileged user', () => {
  expect(all('FROM')).toEqual([expect.stringMatching(/^\$\{NODE_IMAGE\} AS build$/), '$' + '{NODE_IMAGE}'])
  const [, version] = /^NODE_IMAGE=docker\.io\/library\/node:(\d+\.\d+\.\d+)-bookworm-slim$/.exec(all('ARG')[0]) ?? []
  const { engines } = JSON.parse(read('package.json'))
  expect(engines.node).toBe('>=20.19.0')
  expect(nodeVersions).toContain(version)
  expect(all('USER')).toEqual(['10001:10001'])
  expect(instructions.findLastIndex(({ word }) => word === 'RUN')).toBeLessThan(
    instructions.findIndex(({ word }) => word === 'USER'),
  )
})

it('the build context has all sources and no build output', () => {
  const packed = pack(['--dry-run'])
  if (typeof packed === 'string') throw new Error(packed)
  const built = /^(dist|prebuilds)\//
  const needed = packed.files.map(({ path }) => path).filter((path) => !built.test(path))
  const { scripts } = JSON.parse(read('package.json'))
  const configurations = [...String(scripts.types).matchAll(/tsconfig[\w.]*\.json/g)].map(([name]) => name)
  expect(configurations).toEqual(['tsconfig.page.json'])
  const projects = ['tsconfig.json', 'src/ground/tsconfig.json', 'src/commands/tsconfig.json']
  const sources = ['package-lock.json', ...projects, ...configurations, 'src/main.ts', 'scripts/package/main.ts']
  sources.push('deploy/container/health.js')
  expect([...needed, ...sources].filter((path) => !isSent(path))).toEqual([])
  const others = ['node_modules/yaml/package.json', 'dist/src/main.js', '.git/config', '.env', 'deploy/compose/.env']
  expect(others.filter(isSent)).toEqual([])
})

it('the resulting program runs', async () => {
  const [, step] = /node --input-type=module -e "(.*?)"/.exec(all('RUN').join('\n')) ?? []
  const folder = join(temporaryFolder(), 'newcut')
  const laid = runTool(process.execPath, ['--input-type=module', '-e', step.replace('/opt/newcut', folder)], {
    env: { HOME: temporaryFolder() },
  })
  expect(laid.stderr).toBe('')
  expect(laid.status).toBe(0)
  const [, link] = /ln -s \/opt\/newcut\/(\S+) \/usr\/local\/bin\/newcut/.exec(all('RUN').join('\n')) ?? []
  const { stdout } = runTool(process.execPath, [join(folder, link), '--version'], { cwd: folder })
  expect(stdout).toBe((await runProcess(['--version'])).out)
  expect(readFileSync(join(folder, link), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  // All that runs is in the files of the package.
  expect(existsSync(join(folder, 'node_modules'))).toBe(false)
  expect(existsSync(join(folder, 'dist/packages/yaml.cjs'))).toBe(true)
})

it('every documented start command keeps the journal in a volume of its own', () => {
  const documents = [...filesIn('deploy'), ...filesIn('docs').filter((path) => path.endsWith('.md')), 'README.md']
  const lines = documents.flatMap((path) =>
    read(path)
      .split('\n')
      .filter((line) => /\b(docker|podman) run\b.* newcut:local mine\b/.test(line)),
  )
  expect(lines.length).toBeGreaterThan(2)
  const volumes = lines.map((line) => / (?:-v|--volume) (newcut[\w-]*):(\S+) .*newcut:local /.exec(line))
  // The journal is in this volume unless an option says otherwise.
  expect(all('VOLUME')).toEqual(['["/var/lib/newcut"]'])
  expect(all('ENV').join(' ')).toContain('XDG_STATE_HOME=/var/lib ')
  expect(volumes.map((volume) => volume?.[2])).toEqual(lines.map(() => '/var/lib/newcut'))
  const isForRigs = lines.map((line) => line.includes('--stratum-listen'))
  expect(volumes.map((volume) => volume?.[1])).toEqual(isForRigs.map((is) => (is ? 'newcut-stratum' : 'newcut')))
})

it('the health check passes for a working miner or network, and fails without work and without a server', async () => {
  expect(all('HEALTHCHECK')).toEqual([expect.stringMatching(/ CMD \["newcut-health"\]$/)])
  expect(all('COPY')).toContain('--chmod=0755 deploy/container/health.js /usr/local/bin/newcut-health')
  const [, usual] = /^const USUAL = (\[.*\])$/m.exec(read('deploy/container/health.js')) ?? []
  expect(usual).toBe("['http://127.0.0.1:4148/healthz', 'http://127.0.0.1:1848/info']")
  const { url } = await startMiner()
  await expect.poll(() => health(`${url}/healthz`)).toBe(0)
  expect(await health(`${url}/metrics`)).toBe(0)
  expect(await health('http://127.0.0.1:1/healthz')).toBe(1)
  expect(await health('http://127.0.0.1:1/healthz', 'http://127.0.0.1:1/info')).toBe(1)
  expect(await health('--waits', `http://127.0.0.1:${await freePort()}/metrics`)).toBe(0)
  const devnet = await startDevnet({ port: 0 })
  onTestFinished(() => devnet.close())
  expect(await health('http://127.0.0.1:1/healthz', `${devnet.url}/info`)).toBe(0)
  const ill = createServer((_request, response) => response.writeHead(503).end('{"status":"no work"}'))
  await new Promise<void>((resolve) => ill.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void ill.close())
  const ofIll = `http://127.0.0.1:${(ill.address() as AddressInfo).port}/healthz`
  expect([await health(ofIll), await health('--waits', ofIll)]).toEqual([1, 1])
})

const health = (...args: string[]) => healthCheck(args)

it('every health check of the compose file uses a program of the image', () => {
  const tests = read('deploy/compose/compose.yaml').matchAll(/ test: (?:&\w+ )?\[CMD, ([\w-]+), /g)
  expect([...tests].map(([, file]) => file)).toEqual(['newcut-health', 'wget', 'newcut-health'])
})
