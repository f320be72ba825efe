/**
 * Every fenced code block of every document is read: programs are type-checked, command lines are given to the parser of
 * their command, data is parsed. Samples with output, and the guides of developers as a whole, are run.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  allBlocks,
  allIndentedLines,
  type Block,
  blocksIn,
  documents,
  indentedLines,
  mentions,
  root,
  textOf,
  whereIs,
} from './docs-samples/blocks.ts'
import { mentionProblem, problemOf, requestProblem } from './docs-samples/commands.ts'
import { dataLanguages } from './docs-samples/data.ts'
import { GUIDES, notRun } from './docs-samples/lists.ts'
import { builtIn, docstringPrograms, installInto, typeFaults } from './docs-samples/programs.ts'
import { Session } from './docs-samples/session.ts'
import { type Command, commandsOf, promptsOf } from './docs-samples/shell.ts'

const { entryPoints } = JSON.parse(readFileSync(`${root}typedoc.json`, 'utf8'))
const languages = ['sh', 'console', 'ts', ...Object.keys(dataLanguages)]
const inLanguage = (...wanted: readonly string[]) => allBlocks.filter(({ language }) => wanted.includes(language))
const examples = docstringPrograms([
  'src/ground/chain',
  'src/client/matchers',
  'src/client/node',
  'src/client/wallet',
  'src/devnet',
  'src/compose',
  'src/language/testing',
])
/** Those at the top of `newcut/core` and the like. */
const ofEntries = examples.filter(({ where }) => entryPoints.includes(where))

/** Assertions need the runner of tests to which they belong: test/package/project.test.ts runs them. */
const ofPrograms = ofEntries.filter(({ where }) => !where.startsWith('src/client/matchers/'))

/** The folder of an example that a document is about, or null. */
const exampleOf = (document: string) => (document.startsWith('examples/') ? dirname(document) : null)

/** The commands of a block, in the order in which they stand. */
const commandsIn = ({ language, text }: Block) =>
  language === 'console' ? promptsOf(text).flatMap(({ line }) => commandsOf(line)) : commandsOf(text)

/** The problems of these blocks, each with its place. */
async function problems(blocks: readonly Block[], judge: (block: Block) => Promise<string[]>): Promise<string[]> {
  const found: string[] = []
  for (const block of blocks) {
    try {
      found.push(...(await judge(block)).map((problem) => `${whereIs(block)}: ${problem}`))
    } catch (error) {
      found.push(`${whereIs(block)}: ${(error as Error).message}`)
    }
  }
  return found
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-docs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('every code block', () => {
  it('every code block is fenced, so that its language is known', () => {
    expect(allIndentedLines).toEqual([])
  })

  it('every code block names a language that this test reads', () => {
    const unknown = allBlocks.filter(({ language }) => !languages.includes(language))
    expect(unknown.map((block) => `${whereIs(block)}: ${block.language || 'no language'}`)).toEqual([])
  })

  it('code blocks of sh and console have commands and options that exist, and served paths', async () => {
    const wrong = await problems(inLanguage('sh', 'console'), async (block) => {
      const saved = allBlocks.flatMap(({ document, file }) => (document === block.document && file ? [file] : []))
      const example = exampleOf(block.document)
      if (example !== null) saved.push(...builtIn(example))
      const found: string[] = []
      for (const command of commandsIn(block)) {
        const problem = await problemOf(command, saved)
        if (problem !== null) found.push(`${command.text}: ${problem}`)
      }
      return found
    })
    expect(wrong).toEqual([])
  })

  it('code blocks of data can be read; options in configuration files exist, and bodies are accepted', async () => {
    const wrong = await problems(inLanguage(...Object.keys(dataLanguages)), async ({ language, text, request }) => {
      const [method, path] = request?.split(' ') ?? []
      const isBody = language === 'json' && request !== null
      const problem = dataLanguages[language](text) ?? (isBody ? requestProblem(method, path, text) : null)
      return problem === null ? [] : [problem]
    })
    expect(wrong).toEqual([])
  })

  it('code blocks of ts compile against the package, and so do the examples in docstrings', () => {
    const folder = temporaryFolder()
    installInto(folder)
    symlinkSync(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'), 'dir')
    const programs = [...inLanguage('ts').map((block) => ({ where: whereIs(block), text: block.text })), ...examples]
    expect(programs.length).toBeGreaterThan(8)
    expect(typeFaults(programs, folder)).toEqual([])
  })
})

it('every command within a sentence has a name and flags that exist', () => {
  const found = documents.flatMap((document) =>
    mentions(textOf(document)).map((mention) => ({ document, mention, problem: mentionProblem(mention) })),
  )
  expect(found.length).toBeGreaterThan(30)
  expect(found.filter(({ problem }) => problem !== null)).toEqual([])
})

describe('the samples', () => {
  const isLeftOut = (block: Block) =>
    notRun.some(({ document, first }) => document === block.document && block.text.startsWith(first))
  const isRun = (block: Block) =>
    (block.language === 'console' || (GUIDES.includes(block.document) && ['sh', 'ts'].includes(block.language))) &&
    !isLeftOut(block)
  /** Samples below use the file. */
  const makesKey = ({ words: [program, command, file] }: Command) =>
    program === 'newcut' && command === 'keygen' && file !== undefined
  const running = [...new Set(allBlocks.filter(isRun).map(({ document }) => document))]

  it.concurrent.each(running)('the commands of the sample in %s do what it shows', async (document) => {
    const blocks = allBlocks.filter((block) => block.document === document)
    const mines = blocks.some(({ text }) => text.includes('newcut mine'))
    const standard = mines ? ['--difficulty', '1M'] : ['--auto-mine', 'on-arrival']
    const session = new Session(standard, exampleOf(document))
    try {
      for (const block of blocks) {
        await session.save(block)
        if (block.language === 'sh') await session.runShell(block, (command) => isRun(block) || makesKey(command))
        if (!isRun(block)) continue
        if (block.language === 'console') {
          const problem = await session.runConsole(block)
          if (problem !== null) expect.fail(`${whereIs(block)}: ${problem}`)
        } else if (block.language === 'ts' && block.file === null) await session.runProgram(block)
      }
    } finally {
      await session.close()
    }
  })

  it('samples that are not run have a reason, and exist', () => {
    const gone = notRun.filter(
      ({ document, first }) => !allBlocks.some((block) => block.document === document && block.text.startsWith(first)),
    )
    expect(gone).toEqual([])
    expect(notRun.filter(({ reason }) => reason.length < 10)).toEqual([])
  })

  it('each entry point of the package has an example', () => {
    expect(ofEntries.map(({ where }) => where).toSorted()).toEqual(entryPoints.toSorted())
  })

  it.concurrent.each(ofPrograms)('the example in the docstring of $where runs', async ({ where, text }) => {
    const session = new Session(['--auto-mine', 'on-arrival'])
    try {
      await session.runProgram({ document: where, line: 1, language: 'ts', text, file: null, request: null })
    } finally {
      await session.close()
    }
  })
})

describe('the reader of blocks', () => {
  it('the reader of code blocks finds language, file, and lines that are indented instead of fenced', () => {
    const text = 'Save this as `a.mjs`:\n\n```ts\nlet a\n```\n\n- one\n\n  ```sh\n  ls\n  ```\n\n    newcut mine\n'
    expect(blocksIn('x.md', text)).toEqual([
      { document: 'x.md', line: 3, language: 'ts', text: 'let a', file: 'a.mjs', request: null },
      { document: 'x.md', line: 9, language: 'sh', text: 'ls', file: null, request: null },
    ])
    expect(indentedLines('x.md', text)).toEqual(['x.md:13: newcut mine'])
    expect(() => blocksIn('x.md', '```sh\nls')).toThrow('x.md:1: a fence that stays open')
  })

  it('the reader of code blocks splits shell text as a shell does', () => {
    const words = (text: string) => commandsOf(text).map((command) => command.words)
    expect(words(`A=1 newcut send '(+ 1 2)' --key "a b" # why\nls | wc -l && echo \\\n  two > out 2>&1`)).toEqual([
      ['newcut', 'send', '(+ 1 2)', '--key', 'a b'],
      ['ls'],
      ['wc', '-l'],
      ['echo', 'two'],
    ])
    expect(words(`curl 'http://h/?a=1&b' "$(newcut keygen)" &`)).toEqual([
      ['newcut', 'keygen'],
      ['curl', 'http://h/?a=1&b', '$(newcut keygen)'],
    ])
    expect(() => words(`echo 'open`)).toThrow('a quote that stays open: open')
  })

  it.each([
    ['newcut mine --nod http://127.0.0.1:1848', /--nod/],
    ['newcut devnet --auto-mine constant:2', /--auto-mine constant:2/],
    ['newcut mine --pool stratum+tcp://USER@HOST:PORT --confirmations 3', /--confirmations has no effect/],
    ['newcut dig', /dig/],
    ['npm run nothing', /no script nothing/],
    ['node dist/src/main.js devnet --quick', /--quick/],
    ['docker run --rm newcut:local mine --quick', /--quick/],
    ['kubectl --namespace newcut exec leader-0 -- newcut fleet --quick', /--quick/],
    ['curl http://127.0.0.1:1848/devnet/forks', /nothing is served at GET \/devnet\/forks/],
    [`curl -d '{"chain":0,"deep":3}' http://127.0.0.1:1848/devnet/fork`, /does not accept/],
    ['frobnicate', /a program that this test does not know/],
    ['cp deploy/none.yaml .', /no such file/],
  ])('the check of shell samples reports %s', async (line, problem) => {
    const [command] = commandsOf(line)
    expect(await problemOf(command, [])).toMatch(problem)
  })

  it('the check reports missing commands and flags within sentences', () => {
    const text = 'Run `newcut dig`, `newcut rigs check --json`, `newcut send --quick` or:\n\n```sh\n`newcut no`\n```\n'
    expect(mentions(text).map(mentionProblem)).toEqual([
      'newcut dig: no such command',
      null,
      'newcut send --quick: --quick is no option of it',
    ])
  })

  it.each([
    ['yaml', 'thread: 2', /thread: no such option; did you mean threads\?/],
    ['yaml', 'threads: many', /threads/],
    ['yaml', 'a: [', /./],
    ['yaml', '- uses: OWNER/newcut@v1\n  with: {comand: ls}', /no such input: comand/],
    ['json', '{"a":}', /JSON/],
    ['pact', '(module m', /./],
    ['conf', 'server {', /\{ stays open/],
    ['ini', 'Restart', /neither a section nor a value/],
    ['text', '$ newcut mine', /a command in a text block/],
  ])('the check of code blocks reports, for %s: %s', (language, text, problem) => {
    expect(dataLanguages[language](text)).toMatch(problem)
  })
})
