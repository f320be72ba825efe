/** `newcut conformance --serve` judges libraries of other people, as a stranger would use it. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClientResult } from '../../src/client/conformance/clients/judge.ts'
import { childEnv } from '../children.ts'
import { start, stopAll } from '../cli/run.ts'
import { type ClientRun, clientsPart, nodesOfPage, resultsPath } from '../conformance/client-results.ts'
import { until } from '../wait.ts'

const programs = {
  '@kadena/client': 'kadena-client',
  '@kadena/client-utils': 'client-utils',
  'pact-lang-api': 'pact-lang-api',
  chainweb: 'chainweb',
} as const
type Library = keyof typeof programs

const pathOf = (inside: string) => fileURLToPath(new URL(inside, import.meta.url))
const versionOf = (library: string) =>
  JSON.parse(readFileSync(pathOf(`../node_modules/${library}/package.json`), 'utf8')).version as string

interface ProgramResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs a program until it ends. */
function runProgram(command: string, args: readonly string[]): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: childEnv, stdio: ['ignore', 'pipe', 'pipe'] })
    const texts = { out: '', err: '' }
    child.stdout.on('data', (bytes) => {
      texts.out += bytes
    })
    child.stderr.on('data', (bytes) => {
      texts.err += bytes
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...texts }))
  })
}

/** Serves a program until it ends. @returns the verdicts, and what the program wrote with the address left out */
async function judgeProgram(program: (url: string) => Promise<ProgramResult>, ...args: readonly string[]) {
  const server = start(['conformance', '--serve', '0', '--json', '--idle', '10m', ...args])
  const address = () => /serving (http:\S+) /.exec(server.err())?.[1]
  await until(() => address() !== undefined)
  const url = address() as string
  const { code, out, err } = await program(url)
  server.child.kill('SIGINT')
  const verdict = await server.ended
  if (verdict.out === '') throw new Error(`the server gave no verdict: ${JSON.stringify(verdict)}`)
  const { cases } = JSON.parse(verdict.out) as { readonly cases: readonly ClientResult[] }
  const lines = out.replaceAll(url, 'http://HOST').split('\n')
  return { code, err, cases, lines }
}

const node = (library: Library, ...args: readonly string[]) => {
  const path = pathOf(`programs/${programs[library]}.mjs`)
  return (url: string) => runProgram(process.execPath, [path, url, ...args])
}

const failed = (cases: readonly ClientResult[]) =>
  cases.filter(({ outcome }) => outcome === 'failed').map(({ group, name }) => `${group}: ${name}`)

async function runOf(library: Library): Promise<ClientRun & { readonly code: number | null; readonly err: string }> {
  const { cases, lines, ...rest } = await judgeProgram(node(library))
  const told = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).error as string)
  const errors = [...new Set(told.map((text) => text.replaceAll(/http:\/\/\S+/g, 'URL')))].toSorted()
  return { client: `${library} ${versionOf(library)}`, cases, errors, ...rest }
}

const streams = [
  'the stream ends after its first event',
  'the stream is 503 once',
  'the connection closes before the stream begins',
].map((name) => `streams: ${name}`)

let runs: Readonly<Record<Library, Awaited<ReturnType<typeof runOf>>>>
let streamRuns: Awaited<ReturnType<typeof judgeProgram>>[]

beforeAll(async () => {
  const names = Object.keys(programs) as Library[]
  const found = await Promise.all(names.map(async (library) => [library, await runOf(library)] as const))
  runs = Object.fromEntries(found) as typeof runs
  streamRuns = []
  for (const name of streams) streamRuns.push(await judgeProgram(node('chainweb', 'stream'), '--only', name))
})
afterAll(stopAll)

describe('a client of other people', () => {
  it.each(Object.keys(programs) as Library[])('the foreign client %s runs to its end', (library) => {
    expect(runs[library].code).toBe(0)
    expect(runs[library].err).not.toMatch(/\n\s+at /)
  })

  it.each(['@kadena/client', '@kadena/client-utils', 'pact-lang-api'] as const)(
    'the foreign client %s follows every rule',
    (library) => {
      expect(failed(runs[library].cases)).toEqual([])
      const passed = runs[library].cases.filter(({ outcome }) => outcome === 'passed')
      expect(passed.length).toBeGreaterThan(20)
    },
  )

  it('chainweb asks a young chain for blocks below its first one', () => {
    const { cases } = runs.chainweb
    expect(failed(cases)).toEqual(['requests: the query has only parameters of its endpoint'])
    expect(cases.find(({ failure }) => failure !== null)?.failure?.got).toContain('/minheight must be integer')
  })

  it('chainweb ends its process with the first error of a stream', () => {
    expect(streamRuns.map(({ code, err }) => [code, err.includes('throw err')])).toEqual(streams.map(() => [1, true]))
    const gaveUp = streamRuns.flatMap(({ cases }) => cases.filter((each) => each.gaveUp !== null))
    expect(gaveUp.map(({ group, name }) => `${group}: ${name}`)).toEqual(streams)
  })

  it('the results of foreign clients are those in the documents', async () => {
    const own = streamRuns.flatMap(({ cases }) => cases)
    const merged = runs.chainweb.cases.map((each) => own.find(({ name }) => name === each.name) ?? each)
    const all = Object.values({ ...runs, chainweb: { ...runs.chainweb, cases: merged } })
    await expect(nodesOfPage() + clientsPart(all)).toMatchFileSnapshot(resultsPath)
  })
})
