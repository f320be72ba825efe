/** All sentences of the project that break a rule, and their counts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesBelow } from '../sources.ts'
import { type Block, blocksOf, type Line } from './blocks.ts'
import type { HelpText } from './help.ts'
import { pageTexts } from './pages.ts'
import { type Kind, kinds, rules } from './rules.ts'
import { sentencesOf } from './sentences.ts'
import { allTexts, commentsOf, metricTexts, parse, textsForPeople, titlesOf } from './source.ts'

export interface Finding {
  readonly kind: Kind
  /** Path from the root of the project; of a help text, the command or option. */
  readonly file: string
  readonly line: number
  readonly rule: string
  /** The words that break the rule. */
  readonly words: string
  readonly sentence: string
  readonly better: string
}

/** Kind -> file -> rule -> how many sentences. */
export type Counts = Readonly<Partial<Record<Kind, Readonly<Record<string, Readonly<Record<string, number>>>>>>>

/** Every line of these files is for people. */
const CONSOLE = new Set(['src/faces/cli/lines.ts', 'src/faces/cli/notices.ts', 'src/faces/cli/transaction-lines.ts'])
const SOURCES = ['src', 'bench', 'scripts', 'test']
const DOCUMENTS = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'deploy/README.md', 'bench/README.md']
/** Read beside all of deploy/. */
const CONFIGURATIONS = ['.ci/run', 'grafana/alerts.yml']
const GENERATED = '<!-- Written by '

/** The sentences of blocks that break a rule. */
export function judge(blocks: readonly Block[], kind: Kind, file: string): Finding[] {
  return blocks.flatMap(sentencesOf).flatMap((sentence) =>
    rules.flatMap(({ name, better, exempt, find }) => {
      const words = exempt?.includes(file) ? null : find(sentence, kind)
      if (words === null) return []
      return [{ kind, file, line: sentence.line, rule: name, words, sentence: sentence.text, better }]
    }),
  )
}

/** Findings in the comments and texts of a source file. */
export function judgeSource(name: string, text: string): Finding[] {
  const file = parse(name, text)
  const comments = commentsOf(file).flatMap((lines) => judge(blocksOf(lines), 'comments', name))
  if (name.endsWith('.test.ts')) {
    return [...comments, ...titlesOf(file).flatMap((line) => judge([textBlock(line)], 'titles', name))]
  }
  if (!name.startsWith('src/')) return comments
  const texts = CONSOLE.has(name) ? allTexts(file) : textsForPeople(file)
  return [
    ...comments,
    ...texts.flatMap((line) => judge([textBlock(line)], 'errors', name)),
    ...metricTexts(file).flatMap((line) => judge([textBlock(line)], 'help', name)),
  ]
}

/** Findings in a Markdown document; none if a program wrote it. */
export const judgeDocument = (name: string, text: string): Finding[] =>
  text.includes(GENERATED) ? [] : judge(blocksOf(numbered(text)), 'documents', name)

/**
 * Findings in the `#` comments of a script or configuration, and in the summaries of alerts. Indented comments are
 * commands or tables.
 */
export const judgeConfiguration = (name: string, text: string): Finding[] => [
  ...commentBlocks(text).flatMap((lines) => judge(blocksOf(lines), 'documents', name)),
  ...summariesOf(text).flatMap((line) => judge([textBlock(line)], 'documents', name)),
]

/** Findings in the visible texts of a web page. */
export const judgePage = (name: string, text: string): Finding[] =>
  pageTexts(text).flatMap((line) => judge([textBlock(line)], 'documents', name))

/** The summaries of alerts. A value in one is a code span, so that it counts as one word. */
const summariesOf = (text: string): Line[] =>
  numbered(text).flatMap(({ line, text: each }) => {
    const [, summary] = /^\s*summary: '(.*)'$/.exec(each) ?? []
    return summary === undefined ? [] : [{ line, text: summary.replace(/\{\{.*?\}\}/g, '`x`') }]
  })

/** Runs of consecutive comment lines without their sign; other lines separate them. */
function commentBlocks(text: string): Line[][] {
  const runs: Line[][] = [[]]
  for (const { line, text: each } of numbered(text)) {
    const [, comment] = /^\s*# (?! {2})(.*)$/.exec(each) ?? []
    if (comment === undefined) runs.push([])
    else runs[runs.length - 1].push({ line, text: comment })
  }
  return runs.filter((lines) => lines.length > 0)
}

/** Findings in help texts. Each indented line of a note stands alone. */
export const judgeHelp = (texts: readonly HelpText[]): Finding[] =>
  texts.flatMap(({ name, text }) => judge(blocksOf(numbered(text.replace(/^ +(?=\S)/gm, '- '))), 'help', name))

const textBlock = (line: Line): Block => ({ kind: 'text', lines: [{ ...line, text: line.text.replace(/\s+/g, ' ') }] })

const numbered = (text: string): Line[] => text.split('\n').map((each, i) => ({ line: i + 1, text: each }))

/** Findings in all files of the project below `root`, and in its help texts. */
export function judgeProject(root: string, help: readonly HelpText[]): Finding[] {
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  const sources = SOURCES.flatMap((folder) =>
    filesBelow(join(root, folder))
      .filter((name) => /\.(?:ts|mjs|js)$/.test(name))
      .map((name) => `${folder}/${name}`),
  )
  const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  const documents = [...DOCUMENTS, ...guides.map((name) => `docs/${name}`)]
  const deployed = readdirSync(join(root, 'deploy'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(?:js|json|md)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
  const pages = readdirSync(join(root, 'src/faces/web'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => `src/faces/web/${name.replaceAll('\\', '/')}`)
  const configurations = [...deployed.toSorted(), ...CONFIGURATIONS]
  return [
    ...configurations.flatMap((name) => judgeConfiguration(name, read(name))),
    ...pages.toSorted().flatMap((name) => judgePage(name, read(name))),
    ...sources.toSorted().flatMap((name) => judgeSource(name, read(name))),
    ...documents.toSorted().flatMap((name) => judgeDocument(name, read(name))),
    ...judgeHelp(help),
  ]
}

/** Counts of findings, sorted by name. */
export function countsOf(findings: readonly Finding[]): Counts {
  const counts: Partial<Record<Kind, Record<string, Record<string, number>>>> = {}
  for (const kind of kinds) {
    const own: Record<string, Record<string, number>> = {}
    for (const { file, rule } of findings.filter((each) => each.kind === kind)) {
      own[file] ??= {}
      own[file][rule] = (own[file][rule] ?? 0) + 1
    }
    counts[kind] = sorted(own, (rulesOfFile) => sorted(rulesOfFile, (count) => count))
  }
  return counts
}

const sorted = <T>(record: Readonly<Record<string, T>>, each: (value: T) => T): Record<string, T> =>
  Object.fromEntries(
    Object.keys(record)
      .toSorted()
      .map((name) => [name, each(record[name])]),
  )
