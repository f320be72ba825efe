import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readProgram, readTest } from '../../src/language/contracts/syntax/program.ts'
import { formatFile, withoutPlaces } from '../../src/language/editor/format/format.ts'
import { run } from '../cli/run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = execFileSync('git', ['ls-files', '*.pact', '*.repl'], { cwd: root, encoding: 'utf8' }).trim().split('\n')

function formatted(text: string, file = 'a.repl'): string {
  const result = formatFile(file, text)
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return result.text
}

const commentsOf = (text: string) => text.match(/;[^\n]*/g)?.map((comment) => comment.trimEnd())

describe('the printer', () => {
  it('the repository has files to format', () => {
    expect(files.length).toBeGreaterThan(40)
  })

  it.each(files)('the printer keeps forms and comments of %s, and changes nothing the second time', (name) => {
    const text = readFileSync(join(root, name), 'utf8')
    const formsOf = name.endsWith('.repl') ? readTest : (each: string) => readProgram(each)
    const once = formatted(text, name)
    expect(formsOf(once).map(withoutPlaces)).toEqual(formsOf(text).map(withoutPlaces))
    expect(commentsOf(once)).toEqual(commentsOf(text))
    expect(formatted(once, name)).toBe(once)
  })

  it.each([
    ['spaces and closing brackets', '(+   1\n  2\n )', '(+ 1\n  2)\n'],
    ['indentation of a body', '(module m G\n(defcap G ()\ntrue))', '(module m G\n  (defcap G ()\n    true))\n'],
    [
      'the closing bracket of a module on its own line',
      '(module m G\n (defcap G () 1)\n  )',
      '(module m G\n  (defcap G () 1)\n)\n',
    ],
    ['commas in front of fields', "{ 'a: 1\n, 'b: 2 }", "{ 'a: 1,\n  'b: 2 }\n"],
    ['a comma in front of a comment', '[1 ; one\n , 2]', '[1, ; one\n 2]\n'],
    ['a comment before a closing bracket', '(+ 1 2 ; both\n)', '(+ 1 2 ; both\n  )\n'],
    ['blank lines', '\n\n1\n\n\n\n2 3', '1\n\n2\n3\n'],
    [
      'types',
      '(defun f : string ( a : object{ s } b:module{a,b} ) 1)',
      '(defun f:string (a:object{s} b:module{a, b}) 1)\n',
    ],
    ['types of lists', '(defun f (a : [ string ] b:[object{ s }]) 1)', '(defun f (a:[string] b:[object{s}]) 1)\n'],
    ['a comment within a type', '(defun f (a: ; what\n integer) 1)', '(defun f (a: ; what\n integer) 1)\n'],
    ['a comment behind a field', '{"a": ; one\n 1}', '{"a": ; one\n 1}\n'],
    ['strings over several lines', '(+ "a\\\n   \\b"    1)', '(+ "a\\\n   \\b" 1)\n'],
    ['properties', '(defun f () @model [ (property  (> a 1)) ] 1)', '(defun f () @model [ (property  (> a 1)) ] 1)\n'],
    ['an empty text', ' \n', ''],
    ['a text of comments', '; a\n;b  \n', '; a\n;b\n'],
    ['empty braces', '(+ 1 { })', '(+ 1 {})\n'],
    ['a comment in front of all parts', '[\n; c\n1 2]', '[\n ; c\n 1 2]\n'],
    ['a comment behind an opening bracket', '[ ; c\n1 2]', '[; c\n 1 2]\n'],
    ['an interface that closes apart', '(interface i\n(defun f ())\n)', '(interface i\n  (defun f ())\n)\n'],
    ['a capability that closes apart', '(defcap G () true\n)', '(defcap G () true)\n'],
    ['variables below each other', '(let* ((a 1)\n(b 2)) a)', '(let* ((a 1)\n       (b 2)) a)\n'],
    ['parameters below each other', '(lambda (a\nb) 1)', '(lambda (a\n         b) 1)\n'],
    ['line ends of Windows', '(+ 1\r\n2)\r\n', '(+ 1\r\n  2)\r\n'],
  ])('the printer settles %s', (_, text, wanted) => {
    expect(formatted(text)).toBe(wanted)
    expect(formatted(wanted)).toBe(wanted)
  })

  it('the printer breaks a long line after the head of the form', () => {
    const long = `(defun f (a b) (enforce (= a "${'x'.repeat(60)}") "${'y'.repeat(50)}"))`
    const broken = `(defun f (a b)\n  (enforce (= a "${'x'.repeat(60)}")\n    "${'y'.repeat(50)}"))\n`
    expect(formatted(long)).toBe(broken)
    expect(formatted(broken)).toBe(broken)
  })
})

describe('a line', () => {
  const [x, y] = [(count: number) => 'x'.repeat(count), (count: number) => 'y'.repeat(count)]

  it.each([
    ['brackets', (end: string) => `(a (b "${x(50)}" "${end}"))`],
    ['a comma', (end: string) => `[("${x(50)}" "${end}"),\n 1]`],
    ['brackets of forms above', (end: string) => `(a\n  (b\n    (c "${x(50)}" "${end}")))`],
    ['braces', (end: string) => `{ "${x(50)}": [1 "${end}"] }`],
  ])('a line holds 120 characters, with %s at its end', (_, text) => {
    const left =
      120 -
      Math.max(
        ...text('')
          .split('\n')
          .map(({ length }) => length),
      )
    expect(formatted(text(y(left)))).toBe(`${text(y(left))}\n`)
    expect(formatted(text(y(left + 1)))).not.toBe(`${text(y(left + 1))}\n`)
  })

  it.each([
    ['with-read t "k" { "a" := a }', '(with-read t "k" { "a" := a }'],
    ['with-default-read t "k" { "a": 1 }', '(with-default-read t "k"\n  { "a": 1 }'],
    ['defcap T (a:decimal) @managed a T-mgr', '(defcap T (a:decimal)\n  @managed a T-mgr'],
    ['defun f () @doc "x"', '(defun f ()\n  @doc "x"'],
    ['let ((a 1))', '(let ((a 1))'],
  ])('a line that is too long keeps this head of its form: (%s', (head, broken) => {
    const body = `(enforce false "${x(99)}")`
    expect(formatted(`(${head} ${body})`)).toBe(`${broken}\n  ${body})\n`)
  })
})

describe('newcut format', () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  it('newcut format --check lists the files that it would change, and changes nothing', async () => {
    const [wrong, right] = [file('wrong.pact', '(+  1 2)'), file('right.pact', '(+ 1 2)\n')]
    expect(await run(['format', '--check', wrong, right])).toMatchObject({ code: 1, out: `${wrong}\n`, err: '' })
    expect(readFileSync(wrong, 'utf8')).toBe('(+  1 2)')
    expect(await run(['format', '--check', right])).toMatchObject({ code: 0, out: '', err: '' })
  })

  it('newcut format writes files, and prints their names', async () => {
    const name = file('a.repl', '(+  1 2)')
    expect(await run(['format', name])).toMatchObject({ code: 0, out: `${name}\n`, err: '' })
    expect(readFileSync(name, 'utf8')).toBe('(+ 1 2)\n')
  })

  it('newcut format lists all errors of an unreadable file, leaves it, and formats the others', async () => {
    const [broken, other] = [file('broken.pact', '(module m G\n (defun f))'), file('other.pact', '(+  1 2)')]
    const { code, out, err } = await run(['format', broken, other])
    expect(out).toEqual(`${other}\n`)
    expect(err).toBe(`${broken}:2:9: Expected: ['('; the parameters]\n`)
    expect(code).toBe(1)
    expect(readFileSync(broken, 'utf8')).toBe('(module m G\n (defun f))')
  })

  it('newcut format refuses files of other kinds, and missing files', async () => {
    expect((await run(['format', file('a.txt', '')])).err).toContain('format takes .pact and .repl files')
    expect((await run(['format', join(folder, 'none.pact')])).err).toContain('none.pact: it does not exist (ENOENT)')
  })
})
