/** Reads the pact of a command on another chain from the proven result of that command. */
import { type ExactJson, parseExactJson } from '#ground/base/json.ts'
import { evalError } from '#language/contracts/errors.ts'
import { FunctionDefinition, type PactState, type Run, type Yield } from '#language/contracts/machine/ast.ts'
import { splitName } from '#language/contracts/syntax/names.ts'
import type { ObjectValue, Value } from '#language/contracts/values/value.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'

type Fields = { readonly [key: string]: ExactJson }

/**
 * @param output JSON text of the command result
 * @throws ContractError if the command neither began nor continued a pact
 */
export function provenPact(run: Run, output: string): PactState {
  const { continuation } = parseExactJson(output) as Fields
  if (continuation === null || continuation === undefined) {
    throw evalError('Continuation error: verifyCont: No pact exec found in command result')
  }
  return pactFrom(run, continuation as Fields)
}

function pactFrom(run: Run, fields: Fields): PactState {
  const { pactId, step, continuation, nested } = fields
  const { def, args } = continuation as Fields
  const below = Object.entries((nested ?? {}) as { readonly [id: string]: Fields })
  return {
    id: pactId as string,
    fun: pactNamed(run, def as string),
    args: valueFromJson(args) as readonly Value[],
    step: step as number,
    yielded: yieldFrom(fields.yield as Fields | null),
    nested: new Map(below.map(([id, state]) => [id, pactFrom(run, state)])),
  }
}

function yieldFrom(fields: Fields | null): Yield | null {
  if (fields === null) return null
  const { data, provenance, source } = fields
  const from = provenance as Fields | null
  return {
    data: valueFromJson(data) as ObjectValue,
    provenance: from === null ? null : { chain: from.targetChainId as string, moduleHash: from.moduleHash as string },
    source: (source ?? null) as string | null,
  }
}

function pactNamed(run: Run, name: string): FunctionDefinition {
  const parts = splitName(name)
  const found = parts === null ? undefined : run.findModule(parts.module)?.get(parts.member)
  if (found instanceof FunctionDefinition && found.kind === 'defpact') return found
  throw evalError(`Cannot find the defpact of the proof here: ${name}`)
}
