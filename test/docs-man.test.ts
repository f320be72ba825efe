import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { manualPage } from '../scripts/docs/man.ts'
import { commandRows } from '../src/commands/commands.ts'
import { programOf } from '../src/faces/cli/program.ts'
import { silentSurroundings } from './cli/surroundings.ts'

const page = fileURLToPath(new URL('../docs/newcut.1', import.meta.url))

/** The program, for its tables only; no command runs. */
const program = programOf(silentSurroundings, commandRows, { code: 0, format: 'text' }, null)

it('newcut.1 matches the commands; npm run docs:tables rewrites it', async () => {
  await expect(manualPage(program)).toMatchFileSnapshot(page)
})

/** Programs that read manual pages, and the arguments that make them report errors. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  man: ['--warnings', '-E', 'UTF-8', '-l', '-Tutf8', page],
  mandoc: ['-Tlint', '-Wwarning', page],
  groff: ['-man', '-ww', '-z', page],
}

const isInstalled = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0

describe('newcut.1', () => {
  for (const [name, args] of Object.entries(READERS)) {
    it(`${name} reads it without a warning`, ({ skip }) => {
      skip(!isInstalled(name), `${name} is not installed`)
      expect(existsSync(page)).toBe(true)
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
