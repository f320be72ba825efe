/** Computes coverage by room of src/ from V8's counts in all processes of the tests. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CoverageSummary } from 'monocart-coverage-reports'
import { roomOf } from './import-graph.ts'
import { requireJudge } from './judge.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const output = `${root}coverage/`

const kinds = ['lines', 'functions', 'branches'] as const

const sourceOf = (compiled: string) => compiled.replace('/dist/', '/').replace(/\.js$/, '.ts')

/** Excluded files: browser code, and the files that the build generates (scripts/build/bundle.js). */
const OTHERS = /\/(browser|kit)\/|\/(schema\/typebox|platform\/fastify|node\/undici|api\/prom-client)\.js$/

/** Compiled files with a source. A build leaves stale files behind. */
const isCounted = (file: string) =>
  file.startsWith(`${root}dist/src/`) && !OTHERS.test(file) && existsSync(sourceOf(file))

/**
 * Formats a coverage table, and the uncovered places.
 * @param folder value of NODE_V8_COVERAGE during the tests
 * @throws Error if no process has written coverage
 */
export async function coverageLines(folder: string): Promise<string[]> {
  const { CoverageReport } = requireJudge('monocart-coverage-reports') as typeof import('monocart-coverage-reports')
  const report = new CoverageReport({
    name: 'newcut',
    outputDir: output,
    baseDir: root,
    reports: ['v8', 'json-summary', 'json'],
    logging: 'error',
    entryFilter: ({ url }) => url.startsWith('file:') && isCounted(fileURLToPath(url)),
    sourceFilter: (path) => path.startsWith('src/'),
    sourcePath: (path) => path.slice(Math.max(path.lastIndexOf('/src/') + 1, 0)).replace(/\.js$/, '.ts'),
    // A file that no process has loaded is uncovered.
    all: {
      dir: `${root}dist/src`,
      filter: isCounted,
      transformer: async (entry) => {
        const compiled = fileURLToPath(entry.url)
        const sourcesContent = [readFileSync(sourceOf(compiled), 'utf8')]
        entry.sourceMap = { ...JSON.parse(readFileSync(`${compiled}.map`, 'utf8')), sourcesContent }
      },
    },
  })
  const unfinished = dropUnfinished(folder)
  await report.addFromDir(folder)
  const results = await report.generate()
  if (results === undefined) throw new Error(`no process has written what it reached to ${folder}`)
  const rooms = new Map<string, CoverageSummary[]>()
  for (const { sourcePath, summary } of results.files) {
    const room = roomOf(sourcePath.slice('src/'.length)) || '(main)'
    rooms.set(room, [...(rooms.get(room) ?? []), summary])
  }
  const rows = [...rooms].toSorted().map(([room, files]) => {
    const shares = kinds.map((kind) => {
      const [total, covered] = (['total', 'covered'] as const).map((of) =>
        files.reduce((sum, counts) => sum + counts[kind][of], 0),
      )
      return total === 0 ? '' : `${((100 * covered) / total).toFixed(1)} %`
    })
    return [room, ...shares]
  })
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(12) : cell.padStart(10))).join('')
  return [
    line(['room', ...kinds]),
    ...rows.map(line),
    `each line: ${output}index.html`,
    ...(unfinished > 0 ? [`${unfinished} processes were killed while they wrote what they had reached`] : []),
  ]
}

/** Removes incomplete files of killed processes. @returns their number */
function dropUnfinished(folder: string): number {
  let dropped = 0
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    try {
      JSON.parse(readFileSync(file, 'utf8'))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      rmSync(file)
      dropped++
    }
  }
  return dropped
}
