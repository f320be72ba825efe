/** Laws of the tables of options: each default is a value, and a name means one thing. */
import { describe, expect, it } from 'vitest'
import { commandRows } from '../../src/commands/commands.ts'
import { defaultText, negatedName, type OptionSpec } from '../../src/faces/cli/options/row.ts'
import { optionTables } from '../../src/faces/cli/options/table.ts'

type Row = OptionSpec<unknown>

const rows = optionTables.flatMap((table) => Object.entries(table as Readonly<Record<string, Row>>))
const names = [...new Set(rows.map(([name]) => name))]

describe('the table of options', () => {
  it('the table of options has the options of every command', () => {
    const known = new Set(optionTables)
    const unknown = commandRows.filter(({ options }) => Object.keys(options).length > 0 && !known.has(options))
    expect(unknown.map(({ name }) => name)).toEqual([])
  })

  it('the table of options states a default in words only where no value says the same', () => {
    const stated = rows.filter(([, { kind, defaultText: standard }]) => {
      const takesAnyText = kind.parse('some words') !== undefined
      return standard !== undefined && !takesAnyText && kind.parse(standard) !== undefined
    })
    expect(stated.map(([name, { defaultText: standard }]) => `${name}: ${standard}`)).toEqual([])
  })

  it('the table of options makes each other default of a text from the value', () => {
    for (const [name, row] of rows) {
      if (row.defaultText !== undefined || row.placeholder === null || row.fallback === undefined) continue
      const text = defaultText(row)
      expect(row.kind.parse(row.kind.format(row.fallback)), String([name, text])).toEqual(row.fallback)
    }
    expect(rows.filter(([, { help, more = '' }]) => /default:|by default \d/i.test(help + more))).toEqual([])
  })

  it('the table of options has a help of the --no- flag for each switch that is on by default, and for no other', () => {
    for (const [name, row] of rows) {
      expect(row.negatedHelp !== undefined, name).toBe(negatedName(name, row) !== null)
    }
  })

  it('the table of options gives a name that files and variables set one meaning', () => {
    const several = names.flatMap((name) => {
      const settable = rows.filter(([each, row]) => each === name && row.isFlagOnly !== true)
      // Bounds may differ: `a whole number from 0 to 1024`.
      const meanings = new Set(settable.map(([, { kind }]) => kind.expected.split(' ').slice(0, 3).join(' ')))
      return meanings.size > 1 ? [[name, ...meanings].join(' | ')] : []
    })
    expect(several).toEqual([])
  })
})
