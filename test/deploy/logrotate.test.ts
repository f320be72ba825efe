/** The logrotate sample: the paths that it names, and a real rotation of the log of a real miner. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { start, stopAll } from '../cli/run.ts'
import { itWith, lackOf, PROGRAM_PATH } from '../needs.ts'
import { filesIn, read, runTool, temporaryFolder } from './tools.ts'

const sample = read('deploy/logrotate/newcut')

afterEach(stopAll)

it('the logrotate file names the log folders of all units, and the units', () => {
  const units = filesIn('deploy/systemd').map((path) => path.replace(/^.*\/|\.service$/g, ''))
  const folders = units.flatMap((unit) => {
    const text = read(`deploy/systemd/${unit}.service`)
    return [...text.matchAll(/^LogsDirectory=(.*)$/gm)].map(([, name]) => name)
  })
  const rotated = [...sample.matchAll(/^\/var\/log\/(.*)\/\*\.log$/gm)].map(([, name]) => name)
  expect(rotated.toSorted()).toEqual(folders.toSorted())
  const [, listed = ''] = /^ *for unit in (.*); do$/m.exec(sample) ?? []
  expect(listed.split(' ').toSorted()).toEqual(units.toSorted())
})

itWith(lackOf('logrotate'), 'logrotate rotates the log of a running miner without losing a line', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'newcut.log')
  const search = ['--difficulty', '1M', '--gpu', 'none', '--threads', '1', '--http', 'off']
  const miner = start(['mine', ...search, '--log', 'json', '--log-file', file])
  await miner.sees(/"verdict":"accepted"/)
  // This systemctl reports one active unit, whose main process is the miner.
  const systemctl = `#!/bin/sh
case "$*" in
  '--quiet is-active newcut.service') exit 0 ;;
  'kill --kill-who=main --signal=SIGUSR2 newcut.service') exec kill -USR2 ${miner.child.pid} ;;
  *) exit 3 ;;
esac
`
  writeFileSync(join(folder, 'systemctl'), systemctl, { mode: 0o755 })
  const configuration = join(folder, 'logrotate.conf')
  writeFileSync(configuration, sample.replace(/^\/var\/log\/newcut\//m, `${folder}/`), { mode: 0o644 })
  const env = { PATH: `${folder}:${PROGRAM_PATH}` }
  const args = ['--force', '--state', join(folder, 'state'), configuration]
  expect(runTool('logrotate', args, { env })).toMatchObject({ status: 0, stderr: '' })
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/"verdict":"accepted"/)
  miner.child.kill('SIGTERM')
  const { code, out, err } = await miner.ended
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const kept = readFileSync(`${file}.1`, 'utf8') + readFileSync(file, 'utf8')
  const withoutTimes = (text: string) => text.replace(/"time":"[^"]*"/g, '')
  expect(withoutTimes(kept)).toBe(withoutTimes(out))
})
