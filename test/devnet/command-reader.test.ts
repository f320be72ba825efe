/** The readers of signed commands, on generated commands. NEWCUT_TEST_COMMANDS says how many. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/core/json.ts'
import { Fault, readCommand, termsOf } from '../../src/devnet/command/read.ts'
import { readContractCommand } from '../../src/devnet/ledger/command.ts'
import { contents } from './command-forms.ts'

const numRuns = Number(process.env.NEWCUT_TEST_COMMANDS ?? 3000)
const HASH = 'A'.repeat(43)
const sigs = [{ sig: '' }]

function ofLedger(cmd: string) {
  try {
    return readContractCommand({ hash: HASH, sigs, cmd }, 'post32', parseExactJson(cmd))
  } catch (error) {
    return String(error)
  }
}

describe('pool and ledger', () => {
  it('take the same commands, and read the same numbers in them', () => {
    fc.assert(
      fc.property(contents(fc.constantFrom(0, 0, 1, 2)), ({ cmd, wrong }) => {
        const [pool, ledger] = [readCommand({ hash: HASH, sigs, cmd }), ofLedger(cmd)]
        const told = [pool instanceof Fault ? pool.message : 'taken', typeof ledger === 'string' ? ledger : 'taken']
        expect([!(pool instanceof Fault), typeof ledger !== 'string'], told.join('\n')).toEqual([
          wrong.length === 0,
          wrong.length === 0,
        ])
        if (pool instanceof Fault || typeof ledger === 'string') return
        const { gasLimit, gasPrice, ttl, creationTime } = ledger.meta
        expect(termsOf(pool)).toEqual({ gasLimit, gasPrice, ttl, creationTime })
      }),
      { numRuns },
    )
  })
})
