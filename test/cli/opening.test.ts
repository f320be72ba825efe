/** The first line of commands, which a terminal shows before their modules load. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { commandRows } from '../../src/commands/commands.ts'
import { commandRow } from '../../src/faces/cli/command-row.ts'
import { runProgram } from '../../src/faces/cli/program.ts'
import { code, graphOf, reached } from '../import-graph.ts'
import { startWith, stopAll } from './run.ts'
import { silentContext } from './silent-context.ts'

/** Modules that load within 0.1 s, at 0.2 ms each and what the command line itself takes. */
const FEW_MODULES = 110
/** They have stdin and stdout for themselves. */
const OF_EDITORS = ['dap', 'lsp']
/** They ask graphics drivers, which take 0.2 s to load. */
const OF_DRIVERS = ['devices']

const preload = fileURLToPath(new URL('first-write.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-opening-'))
afterEach(stopAll)
afterAll(() => rmSync(folder, { recursive: true }))

describe('the first line of a command', () => {
  it('commands with many modules have a first line before these load', () => {
    const graph = graphOf(({ isType, isLate }) => !isLate && !isType)
    const blocks = ['commands', 'tool-commands'].flatMap(
      (file) => code.get(`commands/${file}.ts`)?.split('commandRow({') ?? [],
    )
    const modules = blocks.flatMap((block) => {
      const [, name, file] = /name: '([^']+)'[\s\S]*import\('\.\/([\w-]+\.ts)'\)/.exec(block) ?? []
      return name === undefined || OF_EDITORS.includes(name) ? [] : [{ name, file }]
    })
    const late = modules.flatMap(({ name, file }) => {
      const count = reached(graph, `commands/${file}`).size
      const isLong = count > FEW_MODULES || OF_DRIVERS.includes(name)
      return isLong && commandRows.find((row) => row.name === name)?.loadsLong !== true ? [[name, count]] : []
    })
    expect(modules.length).toBeGreaterThan(25)
    expect(late).toEqual([])
  })

  it('a terminal shows the first line before any module of the command is loaded', async () => {
    const LOADED = join(folder, 'loaded')
    const args = ['local', '1', '--node', 'http://127.0.0.1:9']
    const { err } = await startWith(['--import', preload], args, { LOADED }).ended
    const lines = readFileSync(LOADED, 'utf8').split('\n')
    const first = lines.findIndex((line) => line.startsWith('wrote'))
    expect(lines[first]).toContain('newcut 0.1.0 local: evaluate code on a node')
    const [before, after] = [lines.slice(0, first), lines.slice(first)]
    expect(before.filter((line) => /\/local|undici|typebox/.test(line))).toEqual([])
    expect(after.some((line) => line.includes('undici'))).toBe(true)
    // The error stands where the first line was.
    expect(err.slice(err.indexOf('\u001B[1A\u001B[2K'))).toMatch(/^[^\n]*newcut: http:\/\/127\.0\.0\.1:9/)
  })
})

describe('showOpening', () => {
  let written = ''
  const write = (text: string) => {
    written += text
    return true
  }
  const terminal = {
    isTTY: true,
    columns: 40,
    write: (text: string) => write(text.replace('\u001B[?2026h', '').replace('\u001B[?2026l', '')),
  }
  const context = { ...silentContext, version: '1.2.3', err: terminal, out: { write } }
  const rowOf = (run: (typeof commandRows)[number]['run'], loadsLong = true) => [
    commandRow({
      ...{ name: 'long', group: 'tools', help: 'do what takes long to load', options: {}, examples: [], run },
      ...(loadsLong && { loadsLong }),
    }),
  ]
  afterEach(() => {
    written = ''
  })
  const CLEARED = '\r\u001B[1A\u001B[2K'
  const LINE = 'newcut 1.2.3 long: do what takes long t\n'

  it('the first line fits the terminal, and goes before any other text', async () => {
    const rows = rowOf((_, __, { out, err }) => {
      out.write('a result\n')
      err.write('a warning\n')
      return 0
    })
    expect(await runProgram(['long'], context, rows)).toBe(0)
    expect(written).toBe(`${LINE}${CLEARED}a result\na warning\n`)
  })

  it('the first line goes before the command reads stdin, and at its end', async () => {
    const reader = rowOf((_, __, { input }) => {
      input()
      write('reads')
      return 0
    })
    await runProgram(['long'], context, reader)
    expect(written).toBe(`${LINE}${CLEARED}reads`)
    written = ''
    await runProgram(
      ['long'],
      context,
      rowOf(() => 0),
    )
    expect(written).toBe(`${LINE}${CLEARED}`)
    written = ''
    const failing = rowOf(() => Promise.reject(new Error('no')))
    await runProgram(['long'], context, failing).catch(() => undefined)
    expect(written.startsWith(`${LINE}${CLEARED}`)).toBe(true)
  })

  it('outputs other than terminals, JSON, and commands that load quickly have no first line', async () => {
    const quiet = rowOf(() => 0)
    await runProgram(['long'], { ...context, err: { write } }, quiet)
    await runProgram(['long'], { ...context, environment: { TERM: 'dumb' } }, quiet)
    await runProgram(['long'], { ...context, environment: { NEWCUT_LOG: 'json' } }, quiet)
    await runProgram(
      ['long'],
      context,
      rowOf(() => 0, false),
    )
    expect(written).toBe('')
  })
})
