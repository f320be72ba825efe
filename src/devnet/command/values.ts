/** Values of the contract language in a command: they nest 250 levels deep, and numbers have up to 255 places. */
import { valueFromJson } from '../../contracts/values/from-json.ts'
import { FormatError } from '../../core/errors.ts'
import type { ExactJson } from '../../core/json.ts'
import type { CommandPayload, NextStep } from './shape.ts'

/** Where a command of the right shape holds what is no value, and why; null: nowhere. */
export function valueFault({ payload, signers }: Pick<CommandPayload, 'payload' | 'signers'>): string | null {
  const { exec } = payload
  const [kind, data] = exec ? ['exec', exec.data] : ['cont', (payload.cont as unknown as NextStep).data]
  return (
    faultAt(`/payload/${kind}/data`, data) ??
    first(signers, ({ clist }, i) =>
      first(clist ?? [], ({ args }, j) => first(args, (arg, k) => faultAt(`/signers/${i}/clist/${j}/args/${k}`, arg))),
    )
  )
}

function first<T>(items: readonly T[], faultOf: (item: T, i: number) => string | null): string | null {
  for (const [i, item] of items.entries()) {
    const fault = faultOf(item, i)
    if (fault !== null) return fault
  }
  return null
}

function faultAt(place: string, json: ExactJson | undefined): string | null {
  try {
    if (json !== undefined) valueFromJson(json)
    return null
  } catch (error) {
    if (error instanceof FormatError) return `${place}: ${error.message}`
    throw error
  }
}
