import type { Lie } from '../lie.ts'
import { chainLies } from './chains.ts'
import { everythingLies } from './everything.ts'
import { solvedLies } from './solved.ts'
import { updatesLies } from './updates.ts'
import { workLies } from './work.ts'

const tables: readonly (readonly [readonly Lie[], readonly string[]])[] = [
  [workLies, ['work is never answered', 'work is answered with 404 without a body', 'work is replayed']],
  [workLies, ['work is answered byte by byte, a byte a second', 'work is answered with a body without end']],
  [solvedLies, ['a solution is never answered', 'a solution is answered with 503']],
  [solvedLies, ['a solution is thanked for with 204, and thrown away']],
  [updatesLies, ['update streams are never answered', 'update streams are answered with 503']],
  [updatesLies, ['update streams say New Cut all the time', 'update streams say a line without end']],
  [chainLies, ['the cut is never answered', 'blocks are never answered']],
  [everythingLies, ['nothing is answered', 'everything is answered with 404 and nothing']],
  [everythingLies, ['everything is answered by resetting the connection']],
]

/** Lies that keep a request pending all the time: a stop must not wait for it. */
export const lastingLies: readonly Lie[] = tables.flatMap(([table, titles]) =>
  titles.map((title) => {
    const lie = table.find((each) => each.title === title)
    if (lie === undefined) throw new Error(`there is no lie ${title}`)
    return lie
  }),
)
