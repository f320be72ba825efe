/** Bars of things that take long: as text, and as a real pseudo-terminal shows them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Output } from '../../src/cli/line.ts'
import { progressBarFor, progressLine } from '../../src/cli/progress.ts'
import { run, start, stopAll } from './run.ts'
import { type InTerminal, noTerminal, startInTerminal, stopTerminals } from './terminal.ts'

const CONTROL_C = '\u0003'
const plain = (_style: string, text: string) => text

describe('a line of progress', () => {
  const task = { what: 'checking blocks', done: 4321, total: 9600 }

  it('shows a bar, the share, the count and the time that is left', () => {
    expect(progressLine(task, 9000, 79, plain)).toBe(
      'checking blocks  [============>              ]  45 %  4.32k of 9.60k  11 s left',
    )
    expect(progressLine({ ...task, done: 0 }, 9000, 79, plain)).toMatch(
      /^checking blocks {2}\[> +\] {2}0 % {2}0 of 9\.60k$/,
    )
    expect(progressLine({ ...task, done: 9600 }, 9000, 79, plain)).toMatch(/\[=+\] {2}100 % {2}9\.60k of 9\.60k$/)
  })

  it('tells the time so far where what is counted is not alike', () => {
    const suites = { what: 'measuring cpu', done: 1, total: 4, unit: 'suites' }
    expect(progressLine(suites, 61_000, 79, plain)).toMatch(/ {2}25 % {2}1 of 4 suites {2}1 m 1 s$/)
  })

  it('leaves out what does not fit, and fits any terminal', () => {
    for (let columns = 0; columns < 100; columns++) {
      expect(progressLine(task, 9000, columns, plain).length).toBeLessThanOrEqual(columns)
    }
    expect(progressLine(task, 9000, 40, plain)).toBe('checking blocks  [======>        ]  45 %')
    expect(progressLine(task, 9000, 22, plain)).toBe('checking blocks 45 %')
  })
})

describe('a bar', () => {
  const written: string[] = []
  const terminal: Output = { isTTY: true, columns: 80, write: (text) => written.push(text) }
  afterEach(() => void written.splice(0))

  it('is drawn after a second, ten times a second at most, and nowhere but on a terminal', () => {
    for (const [out, environment, isOff] of [
      [{ ...terminal, isTTY: false }, {}, false],
      [terminal, { TERM: 'dumb' }, false],
      [terminal, {}, true],
    ] as const) {
      let now = 5000
      const bar = progressBarFor(out, environment, () => now, isOff)
      for (; now < 20_000; now += 10) bar.tell({ what: 'x', done: now, total: 20_000 })
      bar.clear()
    }
    expect(written).toEqual([])
    const drawnWith = (environment: Readonly<Record<string, string>>) => {
      let now = 5000
      const bar = progressBarFor(terminal, environment, () => now)
      for (; now < 6000; now += 10) bar.tell({ what: 'x', done: now, total: 20_000 })
      expect(written).toEqual([])
      for (; now < 7000; now += 10) bar.tell({ what: 'x', done: now, total: 20_000 })
      return written.splice(0).filter((text) => text.includes('%'))
    }
    const draws = drawnWith({})
    expect(draws.length).toBeGreaterThan(5)
    expect(draws.length).toBeLessThanOrEqual(10)
    const cyan = '[36m'
    expect(draws.every((text) => text.includes(cyan))).toBe(true)
    expect(drawnWith({ NO_COLOR: '1' }).join('')).not.toContain(cyan)
  })
})

if (noTerminal !== null) process.stderr.write(`tests in a terminal skipped: ${noTerminal}\n`)

const SOON = { timeout: 60_000, interval: 10 }
const folder = mkdtempSync(join(tmpdir(), 'newcut-progress-'))
const data = join(folder, 'network')
afterEach(stopAll)
afterEach(stopTerminals)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const BAR = (what: string) => new RegExp(`^${what} {2}\\[=*>? *\\] {2}\\d+ %( {2}[\\d.k]+ of [\\d.k]+.*)?$`)

/** Looks at what is drawn until the bar has been seen; then at the end it must be gone. */
async function barIn({ lines }: InTerminal, what: string): Promise<string> {
  let seen = ''
  const look = () => {
    seen = lines().find((line) => BAR(what).test(line)) ?? seen
    return seen
  }
  await expect.poll(look, SOON).not.toBe('')
  expect(seen.length).toBeLessThan(80)
  return seen
}

const gone = ({ lines }: InTerminal, what: string) => expect(lines().filter((line) => line.includes(what))).toEqual([])

describe.skipIf(noTerminal !== null)('in a terminal', { timeout: 240_000 }, () => {
  it('ordered blocks, the load of what is on disk, and its check have bars', async () => {
    const node = startInTerminal(['devnet', '--port', '0', '--data', data, '--auto-mine', 'on-demand'])
    const url = () => /newcut mine --node (http:\S+)/.exec(node.lines().join('\n'))?.[1] ?? ''
    await expect.poll(url, SOON).not.toBe('')
    const counts = Object.fromEntries(Array.from({ length: 20 }, (_, chain) => [chain, 500]))
    const made = fetch(`${url()}/devnet/make-blocks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(counts),
    })
    await barIn(node, 'make-blocks')
    expect((await made).status).toBe(200)
    await expect.poll(() => node.lines().filter((line) => BAR('make-blocks').test(line)), SOON).toEqual([])
    node.press(CONTROL_C)
    expect(await node.ended).toBe(0)

    const check = startInTerminal(['devnet', '--data', data, '--check'], { env: { NO_COLOR: '1' } })
    await barIn(check, 'checking blocks')
    expect(await check.ended).toBe(0)
    gone(check, 'checking')
    expect(check.lines().at(-1)).toBe('nothing is wrong')

    // Without its state, the node executes all blocks again.
    rmSync(join(data, 'state'), { recursive: true })
    const again = startInTerminal(['devnet', '--port', '0', '--data', data])
    await barIn(again, 'executing blocks')
    await expect.poll(() => again.lines().some((line) => line.startsWith('control it:')), SOON).toBe(true)
    gone(again, 'executing')
    again.press(CONTROL_C)
    expect(await again.ended).toBe(0)

    // What is piped has no bar.
    const piped = await run(['devnet', '--data', data, '--check'])
    expect(piped).toMatchObject({ code: 0, err: '' })
    expect(piped.out).not.toContain('checking')
    const log = start(['devnet', '--port', '0', '--data', data, '--log', 'json'])
    await log.sees(/control it/)
    log.child.kill('SIGTERM')
    expect((await log.ended).err).toBe('')
  })

  it('benchmarks have one, which no line of a table is mixed with', async () => {
    const bench = startInTerminal(['bench', '--quick', 'threads', 'codec'])
    await barIn(bench, 'measuring threads')
    expect(await bench.ended).toBe(0)
    gone(bench, 'measuring')
    expect(bench.lines().some((line) => /^codec: /.test(line))).toBe(true)
  })
})
