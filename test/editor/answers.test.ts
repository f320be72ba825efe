/** Answers to an editor, without its protocol: completion, hover, outline, folds, tokens, lenses, fixes. */
import { describe, expect, it } from 'vitest'
import { DiagnosticTag } from 'vscode-languageserver/node'
import { proposals } from '../../src/language/editor/features/completion-items.ts'
import { fixesIn } from '../../src/language/editor/features/fixes.ts'
import { foldsOf, outlineOf } from '../../src/language/editor/features/outline.ts'
import { type TestFileReport, testFindings, testLenses } from '../../src/language/editor/features/test-lenses.ts'
import { Answers } from '../../src/language/editor/protocol/answers.ts'
import { ProtocolPlaces } from '../../src/language/editor/protocol/documents.ts'
import { parseFile } from '../../src/language/editor/text/parsed-file.ts'
import { similarName } from '../../src/language/editor/text/similar.ts'
import { LineStarts } from '../../src/language/editor/text/spans.ts'
import { workspaceOf } from './memory-workspace.ts'

const FILE = 'untitled:a.pact'
const MARK = '|'

/** A session with these texts as open documents. */
function session(texts: Readonly<Record<string, string>>, closed: Readonly<Record<string, string>> = {}) {
  const workspace = workspaceOf(texts, null, closed)
  const places = new ProtocolPlaces(workspace)
  return { workspace, places, answers: new Answers(workspace, places) }
}

const HEAD = '(module m G (defcap G () true)\n'

/** Labels that are offered at the mark in a text. */
function offered(marked: string, file = FILE, others: Readonly<Record<string, string>> = {}): readonly string[] {
  const { workspace } = session({ ...others, [file]: marked.replace(MARK, '') })
  const analysis = workspace.analysis(file)
  return analysis === null ? [] : proposals(workspace, analysis, marked.indexOf(MARK)).map(({ label }) => label)
}

describe('rename', () => {
  const FACE = '(interface face (defun size:integer (a:string)) (defcap SPEND:bool (a:string)))'
  const ONE =
    '(module one G (implements face) (defcap G () true) (defcap SPEND:bool (a:string) true) (defun size:integer (a:string) 1))'
  const TWO = ONE.replace('one', 'two').replace(
    /\)$/,
    ' (defun both (m:module{face}) (+ (m::size "a") (one.size "b"))))',
  )

  /** Renames the name at the mark. @returns the texts after it, or the refusal */
  function renamed(marked: string, to: string, more: Readonly<Record<string, string>>, closed = {}) {
    const texts: Record<string, string> = { ...more, [FILE]: marked.replace(MARK, '') }
    const { answers, places } = session(texts, closed)
    const offset = marked.indexOf(MARK)
    try {
      const { changes = {} } = answers.rename(FILE, { line: 0, character: offset }, to)
      const all: Record<string, string> = { ...texts, ...closed }
      return Object.entries(changes).map(([uri, edits]) => {
        const [file] = Object.keys(all).filter((each) => places.location(each, { from: 0, to: 0 }).uri === uri)
        const sorted = edits.toSorted((a, b) => b.range.start.character - a.range.start.character)
        return sorted.reduce(
          (text, { range: { start, end }, newText }) =>
            text.slice(0, start.character) + newText + text.slice(end.character),
          all[file],
        )
      })
    } catch (error) {
      return (error as Error).message
    }
  }

  it.each([
    ['the interface', FACE.replace('size', '|size'), { 'untitled:one.pact': ONE }],
    ['a module', ONE.replace('size', '|size'), { 'untitled:face.pact': FACE }],
  ])(
    'a rename of a member in %s reaches the interface, all modules that implement it, and calls',
    (_, marked, other) => {
      const closed = { 'untitled:two.pact': TWO }
      const texts = [FACE, ONE, TWO].map((text) => text.replaceAll('size', 'area'))
      expect(renamed(marked, 'area', other, closed)).toHaveLength(3)
      expect([...(renamed(marked, 'area', other, closed) as string[])].sort()).toEqual(texts.sort())
      expect(
        renamed(marked, 'both', { ...other, 'untitled:z.pact': ONE.replace('one G', 'z G (defun both () 1)') }, closed),
      ).toBe('z has both already')
    },
  )

  it('a rename of a member of a system interface is refused', () => {
    const module =
      '(module m G (implements gas-payer-v1) (defcap G () true) (defun |create-gas-payer-guard:guard () 1))'
    expect(renamed(module, 'f', {})).toBe('gas-payer-v1.create-gas-payer-guard is of a system contract')
  })

  it('a rename of a field reaches texts that read it from a row', () => {
    const text =
      '(module m G (defcap G () true) (defschema s |qty:integer) (deftable t:{s}) (defun f () [(at "qty" (read t "k")) (read t "k" ["qty"]) (select t ["qty"] (constantly true)) (at "qty" {"qty": 1})]))'
    const [found] = renamed(text, 'n', {}) as string[]
    expect(found.match(/"qty"/g)).toHaveLength(2)
    expect(found).toContain(
      '[(at "n" (read t "k")) (read t "k" ["n"]) (select t ["n"] (constantly true)) (at "qty" {"qty": 1})]',
    )
  })
})

describe('completion', () => {
  it('completion offers fields of schemas of modules that the code names', () => {
    const token = '(module token G (defcap G () true) (defschema row amount:decimal) (deftable rows:{row}))'
    expect(
      offered('(module m G (defcap G () true) (defun f () (at "|" (read token.rows "k"))))', FILE, {
        'untitled:t.pact': token,
      }),
    ).toContain('amount')
  })

  it('completion offers nothing in comments, but works after a semicolon in a string', () => {
    expect(offered(`${HEAD}(defun f () ; the fo|\n1))`)).toEqual([])
    expect(offered(`${HEAD}(defun f () (+ "a;" fo|)))`)).toContain('format')
  })

  it('completion offers callable members of the interface after ::, and constants and schemas after its name', () => {
    const face = '(interface face (defschema s a:integer) (defconst C 1) (defun call:string (x:string)))'
    const code = (part: string) => `${face}\n${HEAD}(defun f (x:module{face}) ${part}))`
    expect(offered(code('(x::|)'))).toEqual(['call'])
    expect(offered(code('(face.|)')).toSorted()).toEqual(['C', 's'])
  })

  it('completion offers variables in scope, the innermost of a name, and natives of tests in test files only', () => {
    const { workspace } = session({
      [FILE]: `${HEAD}(defun f (a:string) (let ((a:integer 1)) a)) (defun g (other) 1))`,
    })
    const analysis = workspace.analysis(FILE)
    const found = analysis === null ? [] : proposals(workspace, analysis, HEAD.length + 42)
    expect(found.filter(({ label }) => label === 'a').map(({ detail }) => detail)).toEqual(['(variable) a:integer'])
    expect(found.map(({ label }) => label)).not.toContain('other')
    expect(found.map(({ label }) => label)).not.toContain('env-data')
    expect(offered('(env|)', 'untitled:a.repl')).toContain('env-data')
  })

  it('completion offers a variable after its value, not in it', () => {
    expect(offered(`${HEAD}(defun f () (let ((own (+ 1 o|))) 1)))`)).not.toContain('own')
    expect(offered(`${HEAD}(defun f () (let ((own (+ 1 2))) o|)))`)).toContain('own')
  })

  it('completion ignores variables of files that a test loads', () => {
    const loaded = { 'm.pact': `${HEAD}(defun f (elsewhere) elsewhere))${' '.repeat(99)}` }
    expect(offered(`(load "m.pact")\n${' '.repeat(25)}(+ 1 el|)`, 'untitled:a.repl', loaded)).not.toContain('elsewhere')
  })
})

describe('hover', () => {
  const hover = (text: string, part: string, file = FILE) => {
    const before = text.slice(0, text.indexOf(part)).split('\n')
    const found = session({ [file]: text }).answers.hover(file, {
      line: before.length - 1,
      character: before.at(-1)?.length ?? 0,
    })
    return (found?.contents as { readonly value: string } | undefined)?.value ?? ''
  }

  it('hover marks natives for test files, and shows no gas for them', () => {
    const text = hover('(env-data {})', 'env-data', 'untitled:a.repl')
    expect(text).toContain('Test files only.')
    expect(text).not.toContain('Gas')
  })

  it('hover treats the only string of a function as its body, and the first of several as its document', () => {
    expect(hover(`${HEAD}(defun once () "text"))`, 'once')).not.toContain('text')
    expect(hover(`${HEAD}(defun twice () "text" 1))`, 'twice')).toContain('text')
  })

  it('hover shows the first 200 characters of a constant', () => {
    expect(hover(`${HEAD}(defconst X "${'x'.repeat(198)}"))`, 'X')).toContain(`(defconst X "${'x'.repeat(198)}")`)
    expect(hover(`${HEAD}(defconst X "${'x'.repeat(199)}"))`, 'X')).toContain(`(defconst X "${'x'.repeat(199)}...)`)
  })
})

describe('references and renames', () => {
  const text = `${HEAD}(defun f () 1) (defun g () (+ (f) (m.f))))`

  it('a request for references leaves the definition out on request', () => {
    const { answers } = session({ [FILE]: text })
    const at = { line: 1, character: 7 }
    expect([true, false].map((includes) => answers.references(FILE, at, includes).length)).toEqual([3, 2])
  })

  it('a rename changes the last part of a dotted name', () => {
    const { changes } = session({ [FILE]: text }).answers.rename(FILE, { line: 1, character: 7 }, 'h')
    const columns = changes?.[FILE].map(({ range }) => [range.start.character, range.end.character])
    expect(columns).toEqual(
      [[7, 8], [text.split('\n')[1].indexOf('(f)') + 1], [text.split('\n')[1].indexOf('m.f') + 2]].map(([from, to]) => [
        from,
        to ?? from + 1,
      ]),
    )
  })

  it.each(['defun', 'if(', '1a', ''])('a rename refuses the name %j', (name) => {
    const { answers } = session({ [FILE]: text })
    expect(() => answers.rename(FILE, { line: 1, character: 7 }, name)).toThrow('is not a valid name')
  })

  it('a rename refuses an existing name of the module, and accepts the same name again', () => {
    const { answers } = session({ [FILE]: text })
    const at = { line: 1, character: 7 }
    expect(() => answers.rename(FILE, at, 'g')).toThrow('m has g already')
    expect(answers.rename(FILE, at, 'f').changes?.[FILE]).toHaveLength(3)
  })
})

describe('findings', () => {
  it('an editor gets at most 500 findings, and unused names are faded', () => {
    const { answers, workspace } = session({ [FILE]: `${HEAD}(defun f () (let ((x 1)) 2)))` })
    const [finding] = workspace.findings(FILE)
    expect(answers.diagnostics(FILE, [finding], 'newcut')[0].tags).toEqual([DiagnosticTag.Unnecessary])
    expect(answers.diagnostics(FILE, Array(501).fill(finding), 'newcut')).toHaveLength(500)
  })

  it('findings have fixes at both of their ends', () => {
    const { workspace } = session({ [FILE]: `${HEAD}(defun f () (lenght "a")))` })
    const [finding] = workspace.findings(FILE)
    const parsed = workspace.parsedFile(FILE)
    const titles = (at: number) =>
      (parsed === null ? [] : fixesIn(parsed, [finding], { from: at, to: at })).map(({ text }) => text)
    expect([finding.from, finding.to].map((at) => titles(at)[0])).toEqual(['length', 'length'])
    expect([finding.from - 1, finding.to + 1].map((at) => titles(at))).toEqual([[], []])
  })
})

describe('the structure of a file', () => {
  it('the outline of a file has its tests, and a sign for a definition without a name', () => {
    expect(outlineOf(parseFile('a.repl', '(expect "" 1 1) (expect "b" 1 1) (+ 1 2)')).map(({ name }) => name)).toEqual([
      'expect',
      'b',
    ])
  })

  it('folding covers the outermost form of a line, and comments of several lines', () => {
    const text = '; one\n; two\n(a (b\n c)\n d)\n; alone\n(e\n)'
    expect(foldsOf(parseFile('a.repl', text))).toEqual([
      { from: 0, to: 1, isComment: true },
      { from: 2, to: 4, isComment: false },
      { from: 6, to: 7, isComment: false },
    ])
  })

  it('the semantic tokens of a range include its last line', () => {
    const { data } = session({ [FILE]: '; a\n; bb\n; ccc\n; dddd' }).answers.semanticTokens(FILE, [1, 2])
    expect(data).toHaveLength(10)
    expect(data[0]).toBe(1)
    expect(data[2]).toBe(4)
    expect(data[7]).toBe(5)
  })

  it('the tokens exclude the line ends of Windows', () => {
    const { data } = session({ [FILE]: '; one\r\n; three\r\n' }).answers.semanticTokens(FILE, null)
    expect(data[2]).toBe(5)
    expect(data[7]).toBe(7)
  })

  it('the structure of a broken file ends with its text, wherever the error is', () => {
    const lines = new LineStarts('ab\ncd')
    expect(
      [
        { line: 0, column: 1 },
        { line: 1, column: 9 },
        { line: 7, column: 0 },
      ].map((at) => lines.offsetOf(at)),
    ).toEqual([1, 5, 5])
  })
})

describe('results of a test file', () => {
  const text = '(expect "a" 1 1)\n[(expect "b" 1 1)]\n(expect "c" 1 2)\n(expect "d" 1 1)'
  const parsed = parseFile('a.repl', text)
  const place = (line: number) => ({ line, column: 0 })
  const report = (parts: Partial<TestFileReport>): TestFileReport => ({
    passed: 2,
    failures: [],
    stopped: null,
    ...parts,
  })

  it('results of a test file show for each expectation whether it passed, failed, or was not reached', () => {
    const failures = [{ file: 'a.repl', place: place(2), name: 'c', what: `no: ${'x'.repeat(100)}\nmore` }]
    const stopped = { file: 'a.repl', place: place(3), message: 'end' }
    const titles = testLenses(parsed, report({ failures, stopped })).map(({ title }) => title)
    const failed = `failed: no: ${'x'.repeat(100)}`
    expect(titles).toEqual([
      'run test: 2 passed, 1 failed, ended early',
      'passed',
      'passed',
      `${failed.slice(0, 100)}...`,
      'not reached',
    ])
  })

  it('results of a test file show an early end to the end of its line, and name another file', () => {
    const ended = (file: string, line: number) => {
      const [{ from, to, message }] = testFindings(
        parsed,
        report({ stopped: { file, place: place(line), message: 'no' } }),
      )
      return [text.slice(from, to), message]
    }
    expect(ended('a.repl', 3)).toEqual(['(expect "d" 1 1)', 'the test ended here: no'])
    expect(ended('m.pact', 3)).toEqual(['(expect "a" 1 1)', 'the test ended here: no (in m.pact)'])
  })
})

it.each([
  ['ab', ['abc'], null],
  ['abc', ['abd'], 'abd'],
  ['abc', ['xbd'], null],
  ['abcdef', ['xbcdey'], 'xbcdey'],
  ['abcdef', ['abcdef', 'xbcdxy'], null],
  ['length', ['lenght', 'lengths', 'lengthy'], 'lengths'],
])('the suggestion for %s among %j is %s', (name, known, similar) => {
  expect(similarName(name, known)).toBe(similar)
})
