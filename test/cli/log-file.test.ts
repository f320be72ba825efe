/** The log file: the class on real files and disks, and the option in real processes. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { LogFile } from '../../src/ground/platform/log-file.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { freePort } from '../ports.ts'
import { run, runProcess, start, startWith, stopAll } from './run.ts'

/** A few blocks a second on one thread. */
const SEARCH = ['--difficulty', '1M', '--gpu', 'none', '--threads', '1', '--http', 'off']
const EASY = ['--difficulty', '1k', '--gpu', 'none', '--threads', '1', '--http', 'off']
/** Too hard to find a block. */
const HARD = ['--difficulty', '1T', '--gpu', 'none', '--threads', '1', '--http', 'off']
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /

afterEach(stopAll)

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

/** A log file and its warnings. */
function openedIn(folder: string, name = 'x.log') {
  const told: string[] = []
  const path = join(folder, name)
  const file = LogFile.open(path, {
    onFailing: (error) => told.push(`failing ${(error as NodeJS.ErrnoException).code}`),
    onRecovered: (lost) => told.push(`recovered, ${lost} lost`),
    onNotReopened: (error) => told.push(`not reopened ${(error as NodeJS.ErrnoException).code}`),
  })
  onTestFinished(() => file.close())
  return { file, path, told }
}

describe('a log file', () => {
  it('a log file continues after a failure, which it reports once with the number of missing lines', () => {
    const folder = newFolder()
    const inner = join(folder, 'inner')
    mkdirSync(inner)
    const { file, path, told } = openedIn(inner)
    file.write('one\n')
    rmSync(inner, { recursive: true })
    file.write('two\n')
    file.write('three\nfour\n')
    expect(told).toEqual(['failing ENOENT'])
    expect(file.lost).toBe(3)
    mkdirSync(inner)
    file.write('five\n')
    file.write('six\n')
    expect(told).toEqual(['failing ENOENT', 'recovered, 3 lost'])
    expect(file.lost).toBe(0)
    expect(textOf(path)).toBe('five\nsix\n')
  })

  it('a log file starts a new file if somebody deleted it', () => {
    const { file, path, told } = openedIn(newFolder())
    file.write('one\n')
    rmSync(path)
    file.write('two\n')
    expect(textOf(path)).toBe('two\n')
    expect(told).toEqual([])
  })

  it('a log file keeps writing to a moved file until it is reopened', () => {
    const { file, path, told } = openedIn(newFolder())
    renameSync(path, `${path}.1`)
    file.write('one\n')
    file.reopen()
    file.write('two\n')
    expect(textOf(`${path}.1`)).toBe('one\n')
    expect(textOf(path)).toBe('two\n')
    expect(told).toEqual([])
  })

  it('a log file keeps the old file if no new one can be opened', () => {
    const { file, path, told } = openedIn(newFolder())
    renameSync(path, `${path}.1`)
    mkdirSync(path)
    file.reopen()
    file.write('one\n')
    expect(textOf(`${path}.1`)).toBe('one\n')
    expect(told).toEqual(['not reopened EISDIR'])
  })

  it('a log file contains only whole lines once a full disk has room again', (context) => {
    const disk = newFolder()
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8k', 'none', disk]).status !== 0) {
      return context.skip('no small disk can be mounted here')
    }
    onTestFinished(() => void spawnSync('umount', [disk]))
    const { file, path, told } = openedIn(disk)
    writeFileSync(join(disk, 'filler'), 'x'.repeat(4096))
    const line = (letter: string) => `${letter.repeat(2999)}\n`
    // One page of the disk holds two lines and a part of the third.
    file.write(line('a'))
    file.write(`second\n${line('b')}`)
    file.write(line('c'))
    expect(told).toEqual(['failing ENOSPC'])
    expect(file.lost).toBe(2)
    rmSync(join(disk, 'filler'))
    file.write(line('d'))
    file.close()
    expect(told).toEqual(['failing ENOSPC', 'recovered, 2 lost'])
    expect(textOf(path)).toBe(`${line('a')}second\n${'b'.repeat(4096 - 3000 - 7)}\n${line('d')}`)
  })
})

describe('newcut mine --log-file', () => {
  it('newcut mine --log-file appends the console output with date and time and without colours', async () => {
    const folder = newFolder()
    const file = join(folder, 'x.log')
    const args = ['mine', ...SEARCH, '--blocks', '1', '--log-file', file]
    const first = await run(args, { FORCE_COLOR: '1' })
    expect(first.err).toBe('')
    expect(first.code).toBe(0)
    expect(modeOf(file)).toBe('640')
    const { out } = await run(args)
    const lines = textOf(file).split('\n').slice(0, -1)
    for (const line of lines) expect(line).toMatch(STAMP)
    const shown = stripVTControlCharacters(first.out + out)
      .split('\n')
      .slice(0, -1)
    expect(shown.length).toBeGreaterThan(10)
    // On the console the banner has neither time nor label.
    const texts = shown.map((line) => (/^\d\d:\d\d:\d\d /.test(line) ? line.slice(9) : `${' '.repeat(10)}${line}`))
    expect(lines.map((line) => line.replace(STAMP, ''))).toEqual(texts)
  })

  it('newcut mine --log-file keeps the permissions of an existing file', async () => {
    const file = join(newFolder(), 'x.log')
    writeFileSync(file, 'before\n')
    chmodSync(file, 0o604)
    expect((await run(['mine', ...EASY, '--blocks', '1', '--log-file', file])).code).toBe(0)
    expect(modeOf(file)).toBe('604')
    expect(textOf(file).startsWith('before\n')).toBe(true)
  })

  it('SIGUSR2 opens a new log file, and every record is written exactly once', async () => {
    const file = join(newFolder(), 'x.log')
    const miner = start(['mine', ...SEARCH, '--log', 'json', '--log-file', file])
    for (const n of [1, 2]) {
      await expect.poll(() => textOf(file)).toMatch(/"verdict":"accepted"/)
      renameSync(file, `${file}.${n}`)
      miner.child.kill('SIGUSR2')
      await expect.poll(() => existsSync(file)).toBe(true)
      expect(modeOf(file)).toBe('640')
    }
    await expect.poll(() => textOf(file)).toMatch(/"verdict":"accepted"/)
    miner.child.kill('SIGTERM')
    const { code, out, err } = await miner.ended
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const withoutTimes = (text: string) => text.replace(/"time":"[^"]*"/g, '')
    expect(withoutTimes(textOf(`${file}.1`) + textOf(`${file}.2`) + textOf(file))).toBe(withoutTimes(out))
  })

  it('SIGUSR2 does not end a miner without a log file', async () => {
    const miner = start(['mine', ...SEARCH])
    await miner.sees(/ ready /)
    miner.child.kill('SIGUSR2')
    await miner.sees(/ accepted /)
    miner.child.kill('SIGTERM')
    expect(await miner.ended).toMatchObject({ code: 0, err: '' })
  })

  it('newcut mine --log-file keeps mining on a full disk, warns once, and counts missing lines', async () => {
    const { code, out, err } = await run(['mine', ...SEARCH, '--blocks', '2', '--log-file', '/dev/full'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(' summary   2 accepted')
    const told = [...out.matchAll(/ warning {3}log file \/dev\/full: (.*)/g)].map(([, text]) => text)
    expect(told).toEqual([
      expect.stringMatching(
        /^lines cannot be written, and are missing in it \(ENOSPC: .*\); newcut continues without them$/,
      ),
      // All lines but these two warnings.
      `${out.split('\n').length - 1 - 2} lines are missing`,
    ])
  })

  it('newcut mine --log-file writes the number of missing lines into the file', async () => {
    const folder = join(newFolder(), 'logs')
    mkdirSync(folder)
    const file = join(folder, 'x.log')
    const miner = start(['mine', ...SEARCH, '--log', 'json', '--log-file', file])
    await expect.poll(() => textOf(file)).toMatch(/"event":"work"/)
    rmSync(folder, { recursive: true })
    await miner.sees(/"level":"warn",.*"event":"warning","message":"log file .*\(ENOENT: /)
    mkdirSync(folder)
    const [, missing] = await miner.sees(
      /"event":"recovered","message":"log file .*written again; (\d+) lines? (is|are) miss/,
    )
    await expect.poll(() => textOf(file)).toMatch(new RegExp(`written again; ${missing} line`))
    expect(miner.out().match(/cannot be written/g)).toHaveLength(1)
  })

  it('newcut mine --log-file writes the error that ends the program', async () => {
    const file = join(newFolder(), 'x.log')
    const args = ['mine', '--node', '127.0.0.1:1', '--fail-fast', '--log-level', 'error', '--log-file', file]
    const { code, err } = await run(args)
    expect(code).toBe(20)
    expect(textOf(file).replace(STAMP, '')).toBe(err.replace(/^newcut:/, 'error    '))
    const { out } = await run([...args, '--log', 'json'])
    const [, record] = textOf(file).split('\n')
    expect({ ...JSON.parse(record), time: '' }).toEqual({ ...JSON.parse(out), time: '' })
  })

  it('newcut lead --log-file writes the error that ends a leader', async () => {
    const file = join(newFolder(), 'x.log')
    const args = ['lead', '--nats', 'nats://127.0.0.1:1', '--fail-fast', '--state', 'off', '--log-file', file]
    const { code, err } = await run(args)
    expect(code).toBe(20)
    expect(textOf(file).replace(STAMP, '')).toBe(err.replace(/^newcut:/, 'error    '))
  })

  it('newcut mine --log-file writes the internal error that ends the program', async () => {
    const file = join(newFolder(), 'x.log')
    const fault = `data:text/javascript,process.on('SIGWINCH',()=>{throw new Error('planted')})`
    const miner = startWith(['--no-warnings', '--import', fault], ['mine', ...SEARCH, '--log-file', file])
    await miner.sees(/ ready /)
    miner.child.kill('SIGWINCH')
    expect((await miner.ended).code).toBe(70)
    expect(textOf(file).split('\n').at(-2)).toMatch(/ error {5}internal error: planted \(this is a bug .*\[INTERNAL\]$/)
  })

  it.each([
    [['mine'], 'no/x.log', '--log-file no/x.log: there is no folder no (ENOENT) (mkdir -p no makes it) [BAD_OPTION]'],
    [['mine', '--dry-run'], 'no/x.log', '--log-file no/x.log: there is no folder no (ENOENT)'],
    [['devnet'], '.', '--log-file .: this is a folder (EISDIR) (name a file in it) [BAD_OPTION]'],
    [['lead'], '/proc/x.log', '--log-file /proc/x.log: it cannot be written (ENOENT) (name a file in a folder that'],
  ])('newcut %j --log-file %s ends with an error', async (args, file, message) => {
    const { code, out, err } = await run([...args, '--log-file', file])
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(message) })
  })

  it('newcut mine --log-file refuses a pipe without a reader, and does not wait for one', async (context) => {
    const pipe = join(newFolder(), 'pipe')
    if (spawnSync('mkfifo', [pipe]).status !== 0) return context.skip('there is no mkfifo')
    const { code, err } = await run(['mine', '--log-file', pipe])
    expect(err).toContain(`--log-file ${pipe}: it cannot be written (ENXIO)`)
    expect(code).toBe(2)
  })

  it('newcut mine --dry-run leaves the log file as it is, and answers at any level', async () => {
    const folder = newFolder()
    const [fresh, old] = [join(folder, 'fresh.log'), join(folder, 'old.log')]
    writeFileSync(old, 'before\n')
    for (const file of [fresh, old]) {
      const { code, out } = await run(['mine', '--dry-run', ...EASY, '--log-level', 'error', '--log-file', file])
      expect(out).toContain('all checks passed')
      expect(code).toBe(0)
    }
    expect(readdirSync(folder)).toEqual(['old.log'])
    expect(textOf(old)).toBe('before\n')
  })
})

describe('--log-level', () => {
  it('--log-level warn hides the normal work of a miner', async () => {
    const args = ['mine', ...HARD, '--duration', '1s']
    expect(await run([...args, '--log-level', 'warn'])).toMatchObject({ code: 0, out: '', err: '' })
    expect(await run(args, { NEWCUT_LOG_LEVEL: 'error' })).toMatchObject({ code: 0, out: '', err: '' })
  })

  it('--log-level warn hides the blocks of a development network', async () => {
    const port = String(await freePort())
    const quiet = ['--log-level', 'warn', '--auto-mine', 'constant:50ms']
    const node = start(['devnet', '--port', port, '--graph', 'pair', ...quiet])
    const height = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/chainweb/0.0/development/cut`).catch(() => null)
      return answer === null ? 0 : ((await answer.json()) as { height: number }).height
    }
    await expect.poll(height).toBeGreaterThan(4)
    node.child.kill('SIGTERM')
    expect(await node.ended).toMatchObject({ code: 0, out: '', err: '' })
    const { code, err } = await run(['devnet', ...quiet, '--log-requests'])
    expect(err).toContain('--log-requests has no effect: --log-level warn leaves')
    expect(code).toBe(2)
  })

  it('--log-level refuses other words', async () => {
    const { code, err } = await run(['mine', '--log-level', 'verbose'])
    expect(err).toContain('expected one of error, warn, info, debug [BAD_OPTION]')
    expect(code).toBe(2)
  })

  it('--log-level changes while the miner runs, for console and file, and the status line says so', async () => {
    const folder = newFolder()
    const [file, log] = [join(folder, 'newcut.yaml'), join(folder, 'x.log')]
    const save = (text: string) => {
      writeFileSync(`${file}~`, text)
      renameSync(`${file}~`, file)
    }
    save('log-level: debug\n')
    const http = ['--http', '127.0.0.1:0']
    const miner = start(['mine', '--config', file, ...SEARCH.slice(0, -2), ...http, '--log-file', log])
    const [, url] = await miner.sees(/metrics: (http:\/\/127\.0\.0\.1:\d+)/)
    await miner.sees(/ solution {2}chain \d+ +height \d+ +thread0 {2}handed-in /)
    save('log-level: warn\n')
    const [turned] = await miner.sees(/ changed {3}configuration: log-level debug -> warn\n/)
    const accepted = async () => ((await (await fetch(`${url}/api/summary`)).json()) as Snapshot).solutions.accepted
    const before = await accepted()
    await expect.poll(accepted).toBeGreaterThan(before + 1)
    save(`log-level: info\nlog-file: ${join(folder, 'y.log')}\n`)
    const wins = ' in the file has no effect: --log-file on the command line wins'
    await miner.sees(new RegExp(` changed {3}configuration: log-file .*/y\\.log${wins}\n`))
    await miner.sees(/ configuration: log-level warn -> info\n[\s\S]* accepted /)
    const quiet = (text: string) => text.split(turned)[1].split('configuration: log-level warn -> info\n')[0]
    for (const text of [quiet(miner.out()), quiet(textOf(log))])
      expect(text).not.toMatch(/ (accepted|work|solution) {2}/)
    expect(textOf(log).split('log-level warn -> info\n')[1]).not.toMatch(/ solution {2}/)
    expect(existsSync(join(folder, 'y.log'))).toBe(false)
  })
})

describe('newcut devnet --log-file', () => {
  it('newcut devnet --log-file gets blocks, accounts and requests beside a command of --exec, whose outputs are its own', async () => {
    const file = join(newFolder(), 'x.log')
    const ask = `${process.execPath} -e "fetch(process.env.NEWCUT_NODE + '/info').then((a) => console.log(a.status))"`
    const args = ['devnet', '--graph', 'pair', '--log-requests', '--log-file', file, '--exec', ask]
    const { code, out, err } = await runProcess(args)
    expect({ code, out }).toEqual({ code: 0, out: '200\n' })
    expect(err).toMatch(/^\d\d:\d\d:\d\d request {3}GET \/info .*\n$/)
    const lines = textOf(file).split('\n').slice(0, -1)
    for (const line of lines) expect(line).toMatch(STAMP)
    for (const part of [/ mine it: newcut mine /, / {3}sender00 [0-9a-f]{64}$/, / request {3}GET \/info /]) {
      expect(lines.filter((line) => part.test(line))).toHaveLength(1)
    }
  })

  it('newcut devnet --log-file gets the blocks of the network', async () => {
    const file = join(newFolder(), 'x.log')
    const node = start(['devnet', '--port', '0', '--graph', 'pair', '--mine', '--threads', '1', '--log-file', file])
    await node.sees(/ block /)
    await expect.poll(() => textOf(file)).toMatch(/Z block {5}chain \d +height 1 /)
  })
})
