/** Shell completion of commands that consist of two words. */
import { expect, it } from 'vitest'
import type { CommandRow } from '../../src/faces/cli/command-row.ts'
import { completionModelOf } from '../../src/faces/cli/completion/model.ts'
import { programOf } from '../../src/faces/cli/program.ts'
import { silentContext } from './silent-context.ts'

const row = (name: string, args: readonly string[] = []): CommandRow => {
  return { name, args, group: 'tools', help: name, options: {}, examples: [], run: () => 0 }
}

const completed = (...rows: readonly CommandRow[]) =>
  completionModelOf(programOf(silentContext, rows, { code: 0, format: 'text' }, null)).commands.map(
    ({ name, arguments: places }) => [name, places.map(({ values }) => values)],
  )

it('completion offers the second word of a command after the first, even if the first alone is not a command', () => {
  expect(completed(row('rigs check', ['<server>']), row('rigs list'))).toEqual([
    ['rigs check', [[]]],
    ['rigs list', []],
    ['rigs', [['check', 'list']]],
    ['help', [['rigs']]],
  ])
})

it('completion offers the second word beside the arguments of the first, if the first is a command too', () => {
  expect(completed(row('rigs', ['[address]', '[other]']), row('rigs check'))).toEqual([
    ['rigs', [['check'], []]],
    ['rigs check', []],
    ['help', [['rigs']]],
  ])
  expect(completed(row('rigs check'), row('rigs'))).toEqual([
    ['rigs check', []],
    ['rigs', [['check']]],
    ['help', [['rigs']]],
  ])
})
