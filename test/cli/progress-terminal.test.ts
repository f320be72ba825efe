/** Progress bars of long operations in a real pseudo-terminal. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { describeWith } from '../needs.ts'
import { until } from '../wait.ts'
import { run, startHere, stopAll } from './run.ts'
import { type InTerminal, noTerminal, startInTerminal, stopTerminals } from './terminal.ts'

const CONTROL_C = '\u0003'

const folder = mkdtempSync(join(tmpdir(), 'newcut-progress-'))
const data = join(folder, 'network')
afterEach(stopAll)
afterEach(stopTerminals)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const BAR = (what: string) => new RegExp(`^${what} {2}\\[=*>? *\\] {2}\\d+ %( {2}[\\d.k]+ of [\\d.k]+.*)?$`)

/** Watches the screen until the bar appears; at the end the bar must be gone. */
async function barIn({ lines, ended }: InTerminal, what: string): Promise<void> {
  let seen = ''
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  await until(() => {
    seen = lines().find((line) => BAR(what).test(line)) ?? ''
    return seen !== '' || hasEnded
  })
  expect(seen).toMatch(BAR(what))
  expect(seen.length).toBeLessThan(80)
}

const gone = ({ lines }: InTerminal, what: string) => expect(lines().filter((line) => line.includes(what))).toEqual([])

describeWith(noTerminal, 'in a terminal', () => {
  it('ordered blocks, loading a data directory and checking it have progress bars', async () => {
    const node = startInTerminal(['devnet', '--port', '0', '--data', data, '--auto-mine', 'on-demand'])
    const url = () => /newcut mine --node (http:\S+)/.exec(node.lines().join('\n'))?.[1] ?? ''
    await expect.poll(url).not.toBe('')
    // The addresses stand last.
    const last = () => node.lines().slice(-3)
    await expect.poll(() => last().some((line) => line.startsWith('see it in a browser: http'))).toBe(true)
    // The first line of the command, which waits for its modules, has left nothing above the banner.
    expect(node.lines()[0]).toMatch(/^newcut [\d.]+$/)
    const counts = Object.fromEntries(Array.from({ length: 20 }, (_, chain) => [chain, 200]))
    const made = fetch(`${url()}/devnet/make-blocks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(counts),
    })
    await barIn(node, 'make-blocks')
    expect((await made).status).toBe(200)
    await expect.poll(() => node.lines().filter((line) => BAR('make-blocks').test(line))).toEqual([])
    node.press(CONTROL_C)
    expect(await node.ended).toBe(0)

    const check = startInTerminal(['devnet', '--data', data, '--check'], { env: { NO_COLOR: '1' } })
    await barIn(check, 'checking blocks')
    expect(await check.ended).toBe(0)
    gone(check, 'checking')
    expect(check.lines().at(-1)).toBe('nothing is wrong')

    // Without its state database the node executes all blocks again.
    rmSync(join(data, 'state'), { recursive: true })
    const again = startInTerminal(['devnet', '--port', '0', '--data', data])
    await barIn(again, 'executing blocks')
    await expect.poll(() => again.lines().some((line) => line.startsWith('control it:'))).toBe(true)
    gone(again, 'executing')
    again.press(CONTROL_C)
    expect(await again.ended).toBe(0)

    // Piped output has no bar.
    const piped = await run(['devnet', '--data', data, '--check'])
    expect(piped).toMatchObject({ code: 0, err: '' })
    expect(piped.out).not.toContain('checking')
    const log = startHere(['devnet', '--port', '0', '--data', data, '--log', 'json'])
    await log.sees(/control it/)
    expect((await log.stop()).err).toBe('')
  })

  it('newcut bench has a progress bar, which never mixes with the table', async () => {
    // On any machine the setup of the network takes more than the second before a bar appears.
    const bench = startInTerminal(['bench', '--quick', 'pipeline', 'codec'])
    await barIn(bench, 'measuring pipeline')
    expect(await bench.ended).toBe(0)
    gone(bench, 'measuring')
    expect(bench.lines().some((line) => /^codec: /.test(line))).toBe(true)
  })
})
