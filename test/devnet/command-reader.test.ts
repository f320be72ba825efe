/** The reader of signed commands, on generated commands. TEST_COMMANDS sets their number. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Command } from '../../src/devnet/command/command.ts'
import { CommandFault, readCommand, readCommandText } from '../../src/devnet/command/read.ts'
import { transactionOf } from '../../src/devnet/mempool/transaction.ts'
import { roundsOf } from '../rotation.ts'
import { type Contents, contents, contentsWith, mistakes, type PartName, places } from './command-forms.ts'

const numRuns = Number(process.env.TEST_COMMANDS ?? roundsOf(3000, 300))
const HASH = 'A'.repeat(43)
const sigs = [{ sig: '' }]
const read = (cmd: string) => readCommand({ hash: HASH, sigs, cmd })

function readGood(cmd: string): Command {
  const command = read(cmd)
  if (command instanceof CommandFault) throw new Error(command.message)
  return command
}

/** The reader's value for each part of a command. */
function toldBy({ meta, payload, networkId, signers: [signer], grants }: Command): Partial<Contents['means']> {
  const common = { ...meta, gasPrice: meta.gasPrice.toString(), networkId, ...signer }
  const told = { ...common, clist: grants.get(signer.pubKey)?.length }
  if (payload.kind === 'exec') return { ...told, code: payload.code.text }
  const { pactId, step, isRollback: rollback, proof } = payload
  return { ...told, pactId, step, rollback, proof }
}

/** The meaning of a part, which may have been left out. */
const meant = (name: PartName, means: unknown) => {
  if (name === 'gasPrice') return shortest(String(means))
  return means ?? (name === 'clist' ? 0 : null)
}

/** Strips trailing zeros after the decimal point. */
const shortest = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

/** Whether an error message begins with the path of a part. */
const names = (message: string, name: PartName) => message.startsWith(`/cmd${places[name]}`)

describe('a command is read', () => {
  it('a command is read in every spelling of its parts that live nodes accept, with the right meaning', () => {
    fc.assert(
      fc.property(contents(fc.constant(0)), ({ cmd, means }) => {
        const told = toldBy(readGood(cmd))
        const parts = Object.keys(told) as PartName[]
        expect(told).toEqual(Object.fromEntries(parts.map((name) => [name, meant(name, means[name])])))
      }),
      { numRuns },
    )
  })

  it('a command is read identically again from the block that contains it', () => {
    fc.assert(
      fc.property(contents(fc.constant(0)), ({ cmd }) => {
        const command = readGood(cmd)
        const { bytes } = transactionOf(command)
        expect(readCommandText(Buffer.from(bytes).toString())).toEqual(command)
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    )
  })

  it('a command with spellings that live nodes refuse is refused with the name of one of the parts', () => {
    fc.assert(
      fc.property(contents(fc.constantFrom(1, 2, 3)), ({ cmd, wrong }) => {
        const command = read(cmd)
        const message = command instanceof CommandFault ? command.message : 'it is taken'
        expect(
          wrong.some((name) => names(message, name)),
          message,
        ).toBe(true)
      }),
      { numRuns },
    )
  })

  it.each(mistakes)('a command is refused if its %s is %s', (name, spelling) => {
    const command = read(contentsWith(name, spelling))
    const message = command instanceof CommandFault ? command.message : 'it is taken'
    expect(names(message, name), message).toBe(true)
  })
})

it('a signer that occurs again has all its capabilities in order, or no limit if one of its lists is empty', () => {
  const cap = (n: number) => ({ name: 'm.C', args: [{ int: n }] })
  const signer = (pubKey: string, ...clist: unknown[]) => ({ pubKey, clist })
  const meta = { chainId: '0', sender: 's', gasLimit: 1, gasPrice: 1, ttl: 1, creationTime: 1 }
  const grantsOf = (...signers: unknown[]) => {
    const payload = { exec: { code: '1' } }
    const { grants } = readGood(JSON.stringify({ payload, signers, meta, nonce: '', networkId: null }))
    return Object.fromEntries([...grants].map(([key, tokens]) => [key, tokens.map(({ args }) => Number(args[0]))]))
  }
  const many = Array.from({ length: 2000 }, (_, i) => signer('a', cap(i)))
  expect(grantsOf(...many)).toEqual({ a: many.map((_, i) => i) })
  expect(grantsOf(signer('a', cap(1)), signer('b'), signer('a', cap(2), cap(3)))).toEqual({ a: [1, 2, 3], b: [] })
  expect(grantsOf(signer('a', cap(1)), signer('a'), signer('a', cap(2)))).toEqual({ a: [] })
  expect(grantsOf(signer('a'), signer('a', cap(2)), signer('a', cap(3)))).toEqual({ a: [] })
})
