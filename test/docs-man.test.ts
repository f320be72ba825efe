/** The manual page, which `npm run package` makes. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeManual } from '../scripts/package/manual.ts'
import { commandRows } from '../src/commands/commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-manual-'))
afterAll(() => rmSync(folder, { recursive: true }))

const page = writeManual(folder)

/** Programs that read manual pages, and the arguments that make them report errors. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  man: ['--warnings', '-E', 'UTF-8', '-l', '-Tutf8', page],
  mandoc: ['-Tlint', '-Wwarning', page],
  groff: ['-man', '-ww', '-z', page],
}

const isInstalled = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0

describe('the manual page', () => {
  const lines = readFileSync(page, 'utf8').split('\n')

  it('the manual page has a section for every command', () => {
    const names = lines.flatMap((line) => /^\.SS "newcut ((?:rigs check|devnet [a-z]+|[a-z]+))/.exec(line)?.[1] ?? [])
    expect(names.toSorted()).toEqual(commandRows.map(({ name }) => name).toSorted())
  })

  it('the manual page has an option with its value, its text and its default', () => {
    const start = lines.findIndex((line) => line.startsWith('.SS "newcut mine'))
    const option = lines.slice(start, start + 400).findIndex((line) => line.includes('\\-\\-block\\-delay'))
    expect(lines.slice(start + option - 1, start + option + 2)).toEqual([
      '.TP',
      '.B "\\-\\-block\\-delay <TIME>"',
      'Target block time of a chain. Default: 30s.',
    ])
  })

  it('the manual page has the headings of a manual page, in their order', () => {
    const headings = lines.filter((line) => line.startsWith('.SH ')).map((line) => line.slice(4).replaceAll('"', ''))
    expect(headings).toEqual([
      'NAME',
      'SYNOPSIS',
      'DESCRIPTION',
      'OPTIONS',
      'COMMANDS',
      'EXIT STATUS',
      'ENVIRONMENT',
      'FILES',
      'EXAMPLES',
      'SEE ALSO',
    ])
  })

  for (const [name, args] of Object.entries(READERS)) {
    it(`${name} reads the manual page without a warning`, ({ skip }) => {
      skip(!isInstalled(name), `${name} is not installed`)
      const { status, stdout, stderr } = spawnSync(name, args, {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', MANPAGER: 'cat', MANWIDTH: '80' },
      })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      if (name === 'mandoc') expect(stdout).toBe('')
      // The reader prints bold letters twice, with a backspace between.
      if (name === 'man') expect(stdout.replace(/.[\b]/g, '')).toContain('--block-delay <TIME>')
    })
  }
})
