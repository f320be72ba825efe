/** The console of a running miner, in a real pseudo-terminal. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { describeWith } from '../needs.ts'
import { run, start, stopAll } from './run.ts'
import { noTerminal, startInTerminal, stopTerminals } from './terminal.ts'

/** A few blocks a second on one thread. */
const MINE = ['mine', '--difficulty', '2M', '--gpu', 'none', '--threads', '1', '--http', 'off']
const ESCAPE = '\u001b['
/** A line that starts with hh:mm:ss and a label, or its continuation. */
const EVENT = /^(\d\d:\d\d:\d\d [a-z.? ]{9} | {19})\S/

describeWith(noTerminal, 'a miner in a terminal', () => {
  afterEach(stopTerminals)

  it.each([80, 120])(
    'the console of a miner fits %i columns: a banner, event lines, and the status line at the bottom',
    async (columns) => {
      const { lines, press, ended } = startInTerminal(MINE, { columns })
      await expect.poll(() => lines().filter((line) => / accepted /.test(line)).length).toBeGreaterThan(3)
      await expect.poll(() => lines().at(-1)).toMatch(/^\d+(\.\d+)? [kM]?H\/s {2}(max .*)?[1-9]\d* accepted {2}/)
      expect(lines().at(-1)).toMatch(/chain \d+ at \d+ {2}effort \d+% .*127\.0\.0\.1:\d+$/)
      const shown = lines()
      expect(shown[0]).toMatch(/^newcut \d+\.\d+\.\d+, no fee: all blocks are yours$/)
      for (const name of ['machine', 'search', 'embedded network', 'paid', 'keys'])
        expect(shown.some((line) => line.startsWith(`${name}: `))).toBe(true)
      const first = shown.findIndex((line) => EVENT.test(line))
      for (const line of shown.slice(first, -1)) expect(line).toMatch(EVENT)
      press('q')
      expect(await ended).toBe(0)
      const after = lines()
      const summary = after.slice(after.findIndex((line) => / summary /.test(line)))
      expect(summary[0]).toMatch(/summary {3}\d+ accepted/)
      expect(summary.at(-2)).toMatch(/\d+ found, [\d.<]+ expected, luck \d+%, best \S+ on chain \d+$/)
      expect(summary.at(-1)).toMatch(/votes for fork 1$/)
      // The status line is gone.
      expect(after.filter((line) => /effort \d+% .*127\.0\.0\.1/.test(line))).toEqual([])
    },
  )

  it('a miner on a terminal obeys its keys', async () => {
    const { lines, press, ended } = startInTerminal(MINE)
    const labels = () => lines().map((line) => line.slice(9, 18).trim())
    await expect.poll(labels).toContain('accepted')
    for (const [key, label] of [
      ['h', 'hashrate'],
      ['s', 'results'],
      ['c', 'node'],
      ['e', 'health'],
      ['?', 'keys'],
    ]) {
      press(key)
      await expect.poll(labels).toContain(label)
    }
    press('p')
    await expect.poll(() => lines().at(-1)).toMatch(/^paused {2}0 H\/s/)
    // The search has stopped once the number of expected blocks stands still, which grows with each hash.
    const expected: string[] = []
    await expect
      .poll(
        async () => {
          press('s')
          await expect.poll(() => labels().filter((label) => label === 'results').length).toBe(expected.length + 2)
          expected.push(
            lines()
              .findLast((line) => /\d found, /.test(line))
              ?.slice(9) ?? '',
          )
          return expected.length > 1 && expected.at(-1) === expected.at(-2)
        },
        { interval: 1000 },
      )
      .toBe(true)
    press('r')
    await expect.poll(() => labels().slice(labels().indexOf('resumed'))).toContain('accepted')
    // Ctrl-C.
    press('\u0003')
    expect(await ended).toBe(0)
    expect(labels()).toContain('summary')
  })
})

describe('a miner whose output is piped', () => {
  afterEach(stopAll)

  it('a miner whose output is piped prints plain lines unless FORCE_COLOR is set, each once, and names its configuration file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-console-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'newcut.yaml')
    writeFileSync(file, 'difficulty: 2M\nthreads: 1\ngpu: none\nhttp: off\n')
    const args = ['mine', '--config', file, '--blocks', '2']
    const { out, code } = await run(args)
    expect(code).toBe(0)
    expect(out).not.toContain(ESCAPE)
    expect((await run(args, { FORCE_COLOR: '1' })).out).toContain(`${ESCAPE}32maccepted`)
    expect(out).toContain(`configuration: ${file}\n`)
    expect(out.match(/ accepted {2}/g)).toHaveLength(2)
  })

  it('a miner whose output is piped is paused and resumed by SIGUSR1', async () => {
    const miner = start(MINE)
    await miner.sees(/ accepted /)
    miner.child.kill('SIGUSR1')
    await miner.sees(/ paused /)
    miner.child.kill('SIGUSR1')
    await miner.sees(/ resumed [^\0]* accepted /)
    miner.child.kill('SIGTERM')
    expect(await miner.ended).toMatchObject({ code: 0, err: '' })
  })

  it('a miner whose output is piped prints the same facts as JSON', async () => {
    const { out, code } = await run([...MINE, '--log', 'json', '--blocks', '2'])
    expect(code).toBe(0)
    const records = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const solutions = records.filter(({ event }) => event === 'solution')
    expect(solutions[0]).toMatchObject({ step: 'found', lateMs: null, device: 'thread0' })
    const { snapshot } = records.at(-1)
    expect(snapshot.results).toMatchObject({ found: 2, best: [{ device: 'thread0' }, { device: 'thread0' }] })
    expect(snapshot.results.best[0].difficulty).toBeGreaterThanOrEqual(snapshot.results.best[1].difficulty)
  })
})
