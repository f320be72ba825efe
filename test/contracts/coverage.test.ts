/** Coverage of contracts, against counts made by hand. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type FileCounts, lineHits, mergeCounts } from '../../src/language/contracts/coverage/counts.ts'
import { languagesOf, runTests } from '../../src/language/contracts/repl/run.ts'
import { TestRunObserver } from '../../src/language/contracts/repl/run-observer.ts'
import { itWith, lackOf } from '../needs.ts'
import { contractIn } from './contract-in.ts'

const FOLDER = join(import.meta.dirname, 'coverage')
const files = {
  resolve: (from: string, path: string) => resolve(dirname(from), path),
  read: (path: string) => readFileSync(path, 'utf8'),
}

function covered(name: string): readonly FileCounts[] {
  let follower: TestRunObserver | undefined
  runTests(join(FOLDER, name), files, languagesOf, {
    observe: (run) => {
      follower = new TestRunObserver(run, { traces: 'none', hasGas: false, covers: () => true })
      return follower
    },
  })
  return follower?.findings.coverage ?? []
}

function counts(test: string, file: string): FileCounts {
  const found = covered(test).find((each) => each.file === join(FOLDER, file))
  if (found === undefined) throw new Error(`no coverage of ${file}`)
  return found
}

/** `line: hits` of each line that counts. */
const lines = (of: FileCounts) => Object.fromEntries(lineHits(of))
/** The same from texts such as `2:0 3:1`. */
const hits = (...texts: readonly string[]) =>
  Object.fromEntries(texts.flatMap((text) => text.split(' ')).map((each) => each.split(':').map(Number)))
const functions = (of: FileCounts) => Object.fromEntries(of.functions.map(({ name, hits }) => [name, hits]))
/** `kind line: outcome count, ...` of each branch. */
const branches = ({ branches: all }: FileCounts) =>
  all.map(
    ({ kind, line, outcomes, hits }) =>
      `${kind} ${line}: ${outcomes.map((word, i) => `${word} ${hits[i]}`).join(', ')}`,
  )

describe('coverage equals counts by hand', () => {
  it('coverage of a token equals the counts by hand', () => {
    const token = counts('token.repl', 'token.pact')
    expect(lines(token)).toEqual(
      hits(
        // GOVERNANCE is never asked. The constant is evaluated when the module is loaded.
        '2:0 3:0 9:1',
        // One capability is acquired, once; its event is not reached.
        '11:1 12:1 13:1 15:0 17:0',
        '19:2 20:2 21:2 22:2',
        // Two calls of move, and one amount is too much. The text of enforce is evaluated only if it fails.
        '24:2 26:2 27:0 28:2 29:1 30:1 31:1 32:0 33:0',
        '35:1 36:1 37:1',
        // debit fails, so that nothing is written and nothing credited.
        '39:1 40:1 41:1 42:1 43:0 45:0 46:0 47:0 48:0',
      ),
    )
    expect(functions(token)).toEqual({
      'token.GOVERNANCE': 0,
      'token.DEBIT': 1,
      'token.MOVED': 0,
      'token.create': 2,
      'token.move': 2,
      'token.too-much': 1,
      'token.debit': 1,
      'token.credit': 0,
    })
    expect(branches(token)).toEqual([
      'defcap 2: granted 0, refused 0',
      'enforce 3: passed 0, failed 0',
      'defcap 11: granted 1, refused 0',
      'enforce 26: passed 2, failed 0',
      'if 28: then 1, else 1',
      'enforce 42: passed 0, failed 1',
    ])
  })

  it('coverage of forms with branches equals the counts by hand', () => {
    const all = counts('branches.repl', 'branches.pact')
    expect(lines(all)).toEqual(
      hits(
        '2:0',
        // Line 5 has a test that runs twice, and a value that runs once.
        '3:2 4:2 5:2 6:1 7:1',
        '8:2 9:2',
        '10:1 11:1 12:1 13:0',
        '14:2 15:2 16:2 17:2',
        '18:2',
        '19:0 20:0 21:0',
        // The lambda is made twice, and called three times.
        '22:2 23:2 24:2 25:3 26:2',
        '27:1 28:1',
      ),
    )
    expect(branches(all)).toEqual([
      'defcap 2: granted 0, refused 0',
      'cond 4: case 1 1, case 2 0, default 1',
      'and 9: first decides 0, second decides 2',
      'or 11: first decides 1, second decides 0',
      'enforce-one 15: test 1 0, test 2 1, none 1',
      'enforce 16: passed 0, failed 2',
      'enforce 17: passed 1, failed 1',
      'if 18: then 1, else 1',
    ])
  })

  it('coverage counts capabilities and pact steps that were refused, required in vain or rolled back', () => {
    const deal = counts('deal.repl', 'deal.pact')
    expect(lines(deal)).toEqual(
      hits(
        '2:0 3:2 4:2 5:2 6:1 7:1',
        '8:3 9:3 10:2 11:2 12:2 13:2',
        '14:1 15:1',
        // The step of line 17 runs once, is not rolled back, and the next one runs.
        '16:1 18:1 19:0 21:1',
      ),
    )
    expect(branches(deal)).toEqual([
      'defcap 2: granted 0, refused 0',
      'defcap 3: granted 2, refused 0',
      'defcap 5: granted 2, refused 1',
      'defcap 6: granted 0, refused 1',
      'step-with-rollback 17: run 1, rolled back 0',
    ])
  })

  it('coverage counts a capability that a guard requires', () => {
    const text = `(module m G (defcap G () true)
  (defcap C () true)
  (defun f () (enforce-guard (create-capability-guard (C)))))
(expect-failure "f" (m.f))`
    const memory = { resolve: (_: string, path: string) => path, read: () => text }
    let follower: TestRunObserver | undefined
    runTests('t.repl', memory, languagesOf, {
      observe: (run) => {
        follower = new TestRunObserver(run, { traces: 'none', hasGas: false, covers: () => true })
        return follower
      },
    })
    const [found] = follower?.findings.coverage ?? []
    expect(branches(found)).toEqual(['defcap 1: granted 0, refused 0', 'defcap 2: granted 0, refused 1'])
  })

  it('coverage counts modules of test files, and leaves out functions of the test', () => {
    const inline = counts('inline.repl', 'inline.repl')
    expect(lines(inline)).toEqual(
      hits(
        // The value of a constant counts, its name does not.
        '3:1 6:0 9:1 10:1',
        '11:2 13:2',
        '14:0 15:0 16:0',
      ),
    )
    expect(functions(inline)).toEqual({ 'inline.G': 0, 'inline.f': 2, 'inline.never': 0 })
  })

  it('coverage counts an event of emit-event, although its body does not run', () => {
    const events = counts('events.repl', 'events.pact')
    expect(lines(events)).toEqual(
      hits(
        '2:0',
        // TOLD is emitted twice, and its body is a value. The body of CHECKED runs only where it is acquired.
        '3:2 5:2 6:3 8:1',
        // NEVER stays at zero. HELD is acquired once, which also emits it.
        '9:0 11:0 12:1 14:1',
        '15:2 16:2 17:2 18:1 19:1 20:1 21:1 22:1',
      ),
    )
    expect(functions(events)).toEqual({
      ...{ 'events.G': 0, 'events.TOLD': 2, 'events.CHECKED': 3, 'events.NEVER': 0, 'events.HELD': 1 },
      ...{ 'events.tell': 2, 'events.hold': 1, 'events.nested': 1 },
    })
  })

  it('coverage of a file that several tests load is their sum', () => {
    const [all] = mergeCounts([covered('branches.repl'), covered('twice.repl')])
    expect(lines(all)).toMatchObject({ 3: 3, 6: 2, 7: 1, 19: 1, 20: 1, 21: 1, 27: 1 })
    expect(branches(all)[1]).toBe('cond 4: case 1 1, case 2 1, default 1')
  })
})

describe('newcut test --coverage', () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-coverage-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const command = (...args: string[]) => contractIn(FOLDER, args)
  const all = ['token.repl', 'branches.repl', 'deal.repl', 'inline.repl', 'twice.repl']

  it('newcut test --coverage prints a table, and the place of what no test reached', async () => {
    const { status, lines: printed } = await command(...all, '--coverage')
    expect(status).toBe(0)
    const text = printed.join('\n')
    expect(text).toMatch(/^branches.pact +92\.6 % +25\/27 +88\.9 % +8\/9 +66\.7 % +12\/18$/m)
    expect(text).toMatch(/^all files +/m)
    expect(printed).toContain('token.pact: lines that never ran: 2-3, 15-17, 27, 32-33, 43-48')
    expect(printed).toContain('deal.pact:6:3: capability deal.ONLY-ADMIN was never granted')
    expect(printed).toContain('deal.pact:3:3: capability deal.OPEN was never refused')
    expect(printed).toContain('deal.pact:17:5: step-with-rollback: never rolled back')
    expect(printed).toContain('token.pact:26:5: enforce: never failed')
    // Line 3 never ran, which says it all.
    expect(printed.filter((line) => line.startsWith('token.pact:3:'))).toEqual([])
    // Line 22 has two forms, and only the outer one ran.
    const { lines: ofEvents } = await command('events.repl', '--coverage')
    const found = ofEvents.filter((line) => line.startsWith('events.pact:22:'))
    expect(found).toEqual(['events.pact:22:5: if: never then', 'events.pact:22:11: if: never ran'])
  })

  it('newcut test --coverage counts the same with one thread and with several', async () => {
    const one = await command(...all, '--coverage', '--jobs', '1')
    expect(await command(...all, '--coverage', '--jobs', '4')).toEqual(one)
  })

  it('newcut test --coverage-min decides on the exit code by lines, or by lines and branches', async () => {
    const least = (bound: string) => command('branches.repl', '--coverage-min', bound)
    expect((await least('80')).status).toBe(0)
    const low = await least('90%')
    expect(low.status).toBe(1)
    expect(low.lines.at(-2)).toBe('coverage is too low: 81.5 % of lines, not 90 %')
    expect((await least('80,50')).status).toBe(0)
    const narrow = await least('80,99.5')
    expect(narrow.status).toBe(1)
    expect(narrow.lines.at(-2)).toMatch(/^coverage is too low: .* % of branches, not 99.5 %$/)
    for (const wrong of ['101', 'x', '1,2,3']) expect((await least(wrong)).stderr).toContain('--coverage-min')
  })

  it('newcut test --coverage leaves out dependencies and excluded files', async () => {
    const names = async (...args: string[]) =>
      (await command(...args, '--coverage')).lines.filter((line) => /%/.test(line)).map((line) => line.split(' ')[0])
    expect(await names('token.repl', 'deal.repl')).toEqual(['deal.pact', 'token.pact', 'all'])
    expect(await names('token.repl', 'deal.repl', '--coverage-exclude', 'token.pact')).toEqual(['deal.pact'])
    const outside = join(folder, 'outside.repl')
    writeFileSync(outside, `(load ${JSON.stringify(join(FOLDER, 'deal.pact'))})(module far G (defcap G () true))`)
    expect(await names(outside)).toEqual(['deal.pact'])
    expect(await names(outside, '--coverage-all')).toHaveLength(3)
  })

  it.each(['node_modules', 'deps', 'dependencies', 'lib', 'vendor', 'prelude'])(
    'coverage takes a folder %s for dependencies, and a contract file of this name for code of the project',
    async (name) => {
      const project = mkdtempSync(join(tmpdir(), 'newcut-coverage-'))
      try {
        const module = (of: string) => `(module ${of} G (defcap G () true) (defun f () 1))`
        mkdirSync(join(project, 'a', name), { recursive: true })
        writeFileSync(join(project, 'a', name, 'far.pact'), module('far'))
        writeFileSync(join(project, name), module('near'))
        writeFileSync(join(project, 'all.repl'), `(load "a/${name}/far.pact") (load "${name}")`)
        const { lines: out } = await contractIn(project, ['all.repl', '--coverage'])
        expect(out.filter((line) => /%/.test(line)).map((line) => line.split(' ')[0])).toEqual([name])
      } finally {
        rmSync(project, { recursive: true })
      }
    },
  )

  it('newcut test --lcov writes lcov records, with lines from 1', async () => {
    const out = join(folder, 'deal.info')
    expect((await command('deal.repl', '--lcov', out)).status).toBe(0)
    expect(readFileSync(out, 'utf8')).toBe(
      `
        TN: SF:deal.pact FN:2,deal.G FN:3,deal.OPEN FN:5,deal.INNER FN:6,deal.ONLY-ADMIN FN:8,deal.guarded
        FN:11,deal.enter FN:14,deal.admin FN:16,deal.trade FNDA:0,deal.G FNDA:2,deal.OPEN FNDA:2,deal.INNER
        FNDA:1,deal.ONLY-ADMIN FNDA:3,deal.guarded FNDA:2,deal.enter FNDA:1,deal.admin FNDA:1,deal.trade FNF:8 FNH:7
        BRDA:2,0,0,- BRDA:2,0,1,- BRDA:3,1,0,2 BRDA:3,1,1,0 BRDA:5,2,0,2 BRDA:5,2,1,1 BRDA:6,3,0,0 BRDA:6,3,1,1
        BRDA:18,4,0,1 BRDA:18,4,1,0 BRF:10 BRH:5 DA:2,0 DA:3,2 DA:4,2 DA:5,2 DA:6,1 DA:7,1 DA:8,3 DA:9,3 DA:10,2
        DA:11,2 DA:12,2 DA:13,2 DA:14,1 DA:15,1 DA:16,1 DA:18,1 DA:19,0 DA:21,1 LF:18 LH:16 end_of_record
      `
        .trim()
        .replaceAll(/\s+/g, '\n')
        .concat('\n'),
    )
  })
  itWith(lackOf('genhtml'), 'newcut test --lcov writes a file that genhtml reads, with the same figures', async () => {
    const out = join(folder, 'all.info')
    await command(...all, '--lcov', out)
    const args = ['--branch-coverage', '--output-directory', join(folder, 'html'), out]
    const { status, stdout, stderr } = spawnSync('genhtml', args, { encoding: 'utf8', cwd: FOLDER })
    expect(status).toBe(0)
    expect(stderr).toBe('')
    expect(stdout).toMatch(/lines\.*: 77\.0% \(67 of 87 lines\)/)
    expect(stdout).toMatch(/functions\.*: 75\.0% \(21 of 28 functions\)/)
    expect(stdout).toMatch(/branches\.*: 52\.4% \(22 of 42 branches\)/)
    const pages = readdirSync(join(folder, 'html'), { recursive: true, encoding: 'utf8' })
    expect(pages.filter((page) => page.endsWith('token.pact.gcov.html'))).toHaveLength(1)
  })
})
