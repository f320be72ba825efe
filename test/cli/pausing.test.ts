/** `newcut mine` pauses by itself; it runs as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { run, start, stopAll } from './run.ts'

const MINE = ['mine', '--difficulty', '1G', '--threads', '1', '--gpu', 'none', '--http', '127.0.0.1:0']

const busy: ChildProcess[] = []
const quieten = () => {
  for (const child of busy.splice(0)) child.kill('SIGKILL')
}
afterEach(async () => {
  quieten()
  await stopAll()
})

/** `HH:MM` in UTC, `hours` hours from now. */
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)

async function summaryOf(banner: string): Promise<{ readonly paused: boolean; readonly pauses: unknown }> {
  return (await (await fetch(banner)).json()) as { readonly paused: boolean; readonly pauses: unknown }
}

describe('newcut mine --schedule', () => {
  it('newcut mine --schedule waits for its time, says until when, and can be resumed by hand', async () => {
    const opens = inHours(2)
    const text = `${opens}-${inHours(3)}`
    const miner = start([...MINE, '--schedule', text], { TZ: 'UTC' })
    await miner.sees(/ready/)
    expect(miner.out()).toContain(`\nschedule: ${text}\n`)
    expect(miner.out()).toMatch(new RegExp(`paused +until ${opens} by the schedule\n`))
    const [, url = ''] = await miner.sees(/summary: (\S+)/)
    const by = { by: 'schedule', text: `until ${opens} by the schedule` }
    expect(await summaryOf(url)).toMatchObject({ paused: true, pauses: [by], hashes: 0 })
    const metrics = await (await fetch(url.replace('api/summary', 'metrics'))).text()
    expect(metrics).toContain('newcut_paused_by{cause="schedule"} 1\nnewcut_paused_by{cause="load"} 0\n')
    // The user may override the pause, and pause again.
    miner.child.kill('SIGUSR1')
    await miner.sees(/resumed[\s\S]*work/)
    expect(await summaryOf(url)).toMatchObject({ paused: false, pauses: [] })
    miner.child.kill('SIGUSR1')
    await miner.sees(/paused +mining is paused until it is resumed/)
    miner.child.kill('SIGTERM')
    expect((await miner.ended).code).toBe(0)
  })

  it('newcut mine --schedule refuses an invalid schedule with place and reason', async () => {
    const { err } = await run([...MINE, '--schedule', 'mon-fry 22:00-06:00'])
    expect(err).toBe(
      'newcut: --schedule mon-fry 22:00-06:00: "mon-fry" is not a day; use mon, tue, ... or a range such as mon-fri; ' +
        'expected times to search, such as 22:00-06:00 or "mon-fri 22:00-06:00,sat-sun 00:00-24:00" [BAD_OPTION]\n',
    )
    const idle = await run([...MINE, '--idle-limit', '30'])
    expect(idle.err).toMatch(/--idle-limit has no effect: it is for --idle-only \(add --idle-only\)/)
  })
})

describe('newcut mine --idle-only', () => {
  it('newcut mine --idle-only pauses while another process uses more of the machine than the limit', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-idle-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'idle.yaml')
    writeFileSync(file, 'idle-only: true\nidle-limit: 1\n')
    // Uses half a core, or more on a busy machine.
    const spin = 'setInterval(() => { for (const end = performance.now() + 25; performance.now() < end; ); }, 50)'
    busy.push(spawn(process.execPath, ['-e', spin], { stdio: 'ignore' }))
    const miner = start([...MINE, '--config', file])
    await miner.sees(/only while other programs use at most 1 % of the machine/)
    const [, url = ''] = await miner.sees(/summary: (\S+)/)
    await miner.sees(/paused +while other programs use \d+ % of the machine/)
    expect(await summaryOf(url)).toMatchObject({ paused: true, pauses: [{ by: 'load' }] })
    // Without a limit even a busy machine causes no pause.
    writeFileSync(file, 'idle-limit: 1\n')
    await miner.sees(/resumed[\s\S]*work/)
    miner.child.kill('SIGTERM')
    expect((await miner.ended).code).toBe(0)
  })
})
