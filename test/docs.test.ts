/** Claims of the documents about the project: paths, links, sections, dependencies. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TSchema } from 'typebox'
import { expect, it } from 'vitest'
import { filesBelow } from '../scripts/sources.ts'
import { environmentName } from '../src/faces/cli/options/row.ts'
import { controlOperations } from '../src/ground/schema/control.ts'
import { lookupOperations } from '../src/ground/schema/lookup.ts'
import type { Operation } from '../src/ground/schema/operation.ts'
import { pactOperations } from '../src/ground/schema/pacts.ts'
import { validatorOf } from '../src/ground/schema/validator.ts'
import { viewOperations } from '../src/ground/schema/view.ts'

const root = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'bench/README.md',
  ...readdirSync(new URL('docs/', root))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** Details of measurements. */
const reports = readdirSync(new URL('bench/baselines/', root))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `bench/baselines/${name}`)

/** Every file in these folders that people wrote. */
const sources = ['src', 'test', 'bench', 'scripts', 'shaders'].flatMap((folder) =>
  filesBelow(fileURLToPath(new URL(folder, root)))
    .filter((name) => /\.(ts|js|mjs|wgsl|c|h|cu|md)$/.test(name))
    .map((name) => `${folder}/${name}`),
)

/** Headings such as `## A. Title` and `### A.1 Title`. */
const sections = new Set([...read('docs/PROTOCOL.md').matchAll(/^##+ ([A-Z](?:\.\d+)?)\.? /gm)].map(([, id]) => id))

const SECTION = '[A-Z](?:\\.\\d+)?\\b'
const CITATION = new RegExp(`PROTOCOL\\.md (${SECTION}(?:(?:, | and | to )${SECTION})*)`, 'g')

/** The anchor that GitHub makes of a heading. */
function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '')
  return words.replace(/\s/g, '-')
}

it('every section of PROTOCOL.md that code cites is a heading there', () => {
  const wrong: string[] = []
  let citations = 0
  for (const file of sources) {
    for (const [text, ids] of read(file).matchAll(CITATION)) {
      citations++
      const missing = ids.split(/, | and | to /).filter((id) => !sections.has(id))
      if (missing.length > 0) wrong.push(`${file}: ${text}`)
    }
  }
  expect(wrong).toEqual([])
  expect(citations).toBeGreaterThan(50)
})

it('code names a section whenever it names PROTOCOL.md', () => {
  const wrong = sources
    .filter((file) => !file.startsWith('test/docs'))
    .filter((file) => {
      const text = read(file)
      return text.split('PROTOCOL.md').length - 1 !== [...text.matchAll(CITATION)].length
    })
  expect(wrong).toEqual([])
})

it('PROTOCOL.md refers only to its own sections', () => {
  const cited = [...read('docs/PROTOCOL.md').matchAll(/\bsection\s+([A-Z](?:\.\d+)?)\b/g)].map(([, id]) => id)
  expect(cited.length).toBeGreaterThan(10)
  expect(cited.filter((id) => !sections.has(id))).toEqual([])
})

it('every project path in a document exists', () => {
  const missing = [...documents, ...reports].flatMap((document) =>
    [
      ...read(document).matchAll(
        /(?<![\w./-])(?:src|test|bench|scripts|shaders|docs|dist|deploy|grafana)\/(?:[\w.-]+\/?)+/g,
      ),
    ]
      .map(([path]) => path.replace(/\.$/, ''))
      // A command writes these files, and they are not in the repository.
      .filter((path) => !path.startsWith('dist/') && !path.startsWith('docs/api'))
      .filter((path) => !existsSync(new URL(path, root)))
      .map((path) => `${document}: ${path}`),
  )
  expect(missing).toEqual([])
})

it('every file and folder that ROOMS.md and ARCHITECTURE.md name without its path exists', () => {
  const names = new Set(sources.map((path) => path.split('/').at(-1)))
  const missing = ['docs/ROOMS.md', 'docs/ARCHITECTURE.md'].flatMap((document) => {
    const text = read(document)
    const files = [...text.matchAll(/`([a-z-]+\.(?:ts|js|c|h))`/g)].filter(([, name]) => !names.has(name))
    const lists = [...text.matchAll(/^`(src\/[\w/-]+\/)`:\n\n```text\n([\s\S]+?)^```$/gm)]
    const folders = lists.flatMap(([, room, list]) =>
      [...list.matchAll(/^([a-z-]+\/) /gm)].filter(([, name]) => !existsSync(new URL(`${room}${name}`, root))),
    )
    return [...files, ...folders].map(([, name]) => `${document}: ${name}`)
  })
  expect(missing).toEqual([])
})

it('every link within the project leads to a file, and to a heading in it', () => {
  const broken: string[] = []
  for (const document of [...documents, ...reports]) {
    for (const [, target] of read(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path, anchor] = target.split('#')
      const file = path === '' ? new URL(document, root) : new URL(path, new URL(document, root))
      if (!existsSync(file)) broken.push(`${document}: ${target}`)
      else if (anchor !== undefined) {
        const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading))
        if (!headings.includes(anchor)) broken.push(`${document}: ${target}`)
      }
    }
  }
  expect(broken).toEqual([])
})

it('docs/README.md links to every other document once, and README links to it', () => {
  const targets = [...read('docs/README.md').matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target)
  const paths = targets.map((target) => new URL(target, new URL('docs/', root)).pathname.slice(root.pathname.length))
  const all = documents.filter((name) => !['README.md', 'docs/README.md'].includes(name))
  expect(paths.toSorted()).toEqual([...all, 'deploy/README.md'].toSorted())
  expect(read('README.md')).toContain('](docs/README.md)')
})

it('every newcut flag and variable in a document is an option', () => {
  // Options of npm and Node are not ours.
  const NAME =
    /(?<![\w-])(?:--(?!(?:ignore|foreground)-scripts|provenance|no-git-tag-version|no-concurrent-recompilation)[a-z][a-z-]+|NEWCUT_[A-Z_]+)/g
  const namesIn = (document: string) => [...read(document).matchAll(NAME)].map(([name]) => name)
  // A variable of the tests.
  const variables = [...read('docs/OPTIONS.md').matchAll(/^\| `(?:-\w, )?--([a-z-]+).*\|$/gm)]
    .filter(([row]) => !row.endsWith(' Flag only. |'))
    .map(([, name]) => environmentName(name))
  expect(variables.length).toBeGreaterThan(100)
  const known = new Set([...namesIn('docs/OPTIONS.md'), ...variables, 'NEWCUT_SUITES'])
  const wrong = documents.flatMap((document) =>
    namesIn(document)
      .filter((name) => !known.has(name))
      .map((name) => `${document}: ${name}`),
  )
  expect(wrong).toEqual([])
})

it('DEVNET-CONTROL.md shows every control request with a body that the node accepts', () => {
  const requests = Object.values(controlOperations).filter(({ method }) => method === 'POST')
  const rows = [...read('docs/DEVNET-CONTROL.md').matchAll(/^\| `POST (\/\S+)` \| `(.+?)` \| .+ \|$/gm)]
  expect(rows.map(([, path]) => path).toSorted()).toEqual(requests.map(({ path }) => path).toSorted())
  for (const [, path, body] of rows) {
    const request: Operation | undefined = requests.find((each) => each.path === path)
    const { accepts } = validatorOf(request?.body?.schema as TSchema)
    expect(accepts(JSON.parse(body)), path).toBe(true)
  }
})

it('DEVNET-CONTROL.md and EXPLORER.md list every endpoint that reads a development network, once', () => {
  const operations = [controlOperations, viewOperations, lookupOperations, pactOperations].flatMap(
    (table): Operation[] => Object.values(table),
  )
  const served = operations.filter(({ method }) => method === 'GET').map(({ path }) => path)
  const listed = ['docs/DEVNET-CONTROL.md', 'docs/EXPLORER.md'].flatMap((document) =>
    [...read(document).matchAll(/^\| `GET (\/devnet\/\S+)` \|/gm)].map(([, path]) => path),
  )
  expect(listed.toSorted()).toEqual(served.toSorted())
})

it('DEVNET-CONTROL.md lists the fields of the steps of a transaction', () => {
  const source = read('src/ground/schema/devnet-events.ts')
  const [, interfaces] = /^(export interface \w*Command \{[\s\S]+?)^export type TransactionEvent/m.exec(source) ?? [
    '',
    '',
  ]
  const fields = new Set([...interfaces.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name))
  const [, table] = /\| field \| in `step` \|.*\n\|[-|]+\n((?:\|.+\n)+)/.exec(read('docs/DEVNET-CONTROL.md')) ?? [
    '',
    '',
  ]
  const listed = [...table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names]) => names.match(/\w+/g) ?? [])
  expect([...new Set(listed)].toSorted()).toEqual([...fields].toSorted())
  expect(fields.size).toBeGreaterThan(15)
})

it('DEPENDENCIES.md gives a reason for every dependency, and for nothing else', () => {
  const { dependencies, devDependencies, optionalDependencies = {} } = JSON.parse(read('package.json'))
  const { dependencies: ofJudges } = JSON.parse(read('test/package.json'))
  const [, atRunTime, forDevelopment, forJudges] = read('docs/DEPENDENCIES.md').split(/^## .*$/m)
  const listed = (text: string) => [...text.matchAll(/^\| `([^`]+)` \| \S.* \|$/gm)].map(([, name]) => name).toSorted()
  expect(listed(atRunTime)).toEqual(Object.keys({ ...dependencies, ...optionalDependencies }).toSorted())
  expect(listed(forDevelopment)).toEqual(Object.keys(devDependencies).toSorted())
  expect(listed(forJudges)).toEqual(Object.keys(ofJudges).toSorted())
})

it('package.json and test/package.json pin every version', () => {
  const { dependencies, devDependencies, optionalDependencies = {} } = JSON.parse(read('package.json'))
  const { dependencies: ofJudges } = JSON.parse(read('test/package.json'))
  const lists = [dependencies, devDependencies, optionalDependencies, ofJudges]
  const versions = lists.flatMap((list) => Object.values(list))
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([])
})
