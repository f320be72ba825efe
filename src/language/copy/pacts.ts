/**
 * Fetches and reads the state of a pact at the pin. No native describes pacts, so newcut sends a continuation that is
 * always refused: the text of the refusal names the next step. The state that the step before left is in the result of
 * its command.
 */
import { type ExactJson, exactJsonText, fieldsOf, parseExactJson } from '#ground/base/json.ts'
import { evalError } from '../contracts/errors.ts'
import { FunctionDefinition, type Module, type PactState } from '../contracts/machine/ast.ts'
import { splitName } from '../contracts/syntax/names.ts'
import type { ObjectValue, Value } from '../contracts/values/value.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import type { CachedPact, CopyEntries, EntrySource } from './entries.ts'
import { refusalError } from './pin.ts'
import type { PinnedCaller } from './pinned-caller.ts'
import { wrongFormError } from './question.ts'

/**
 * Caches a pact: false if there is none, null if it is finished.
 * @throws NewcutError if the node does not answer, or returns a value
 */
export async function fetchPact({ caller, entries, options }: EntrySource, id: string): Promise<void> {
  const answer = await caller.run({ cont: { pactId: id, step: 0, rollback: false, data: {}, proof: null } })
  if ('value' in answer) throw wrongFormError(caller, answer.value)
  const { failure } = answer
  const step = /step mismatch/i.test(failure) ? nextStepIn(failure) : null
  if (/already completed/i.test(failure)) entries.pacts.put(id, null)
  else if (step === null) entries.pacts.put(id, false)
  else entries.pacts.put(id, await stateBefore(caller, { id, step, keys: options.pactKeys }))
}

/** The last number of the refusal is the next step of the pact. */
function nextStepIn(failure: string): number | null {
  const last = [...failure.matchAll(/\d+/g)].at(-1)
  return last === undefined ? null : Number(last[0])
}

/** The continuation that the step before left. */
async function stateBefore(
  caller: PinnedCaller,
  { id, step, keys }: { readonly id: string; readonly step: number; readonly keys: readonly string[] },
): Promise<CachedPact> {
  const { status, text } = await caller.remote.post(caller.path('poll'), { requestKeys: [...new Set([id, ...keys])] })
  if (status !== 200) throw refusalError(caller.remote, `the results of pact ${id}`, status, text)
  const results = fieldsOf(parseExactJson(text))
  for (const result of Object.values(results)) {
    const { continuation } = fieldsOf(result)
    const { pactId, step: done } = fieldsOf(continuation)
    if (pactId === id && Number(done) === step - 1) return { continuation: exactJsonText(continuation ?? null) }
  }
  return { step, keys }
}

/** Forgets cached pacts whose state was in no command that was named, if there are other commands now. */
export function forgetPactsWithoutState({ pacts }: CopyEntries, keys: readonly string[]): void {
  for (const [id, pact] of pacts.list()) {
    if (pact && 'step' in pact && keys.some((key) => !pact.keys.includes(key))) pacts.forget(id)
  }
}

/** The modules that define pacts. */
interface ModuleSource {
  module(name: string): Module | undefined
}

/**
 * @returns null for a pact that is finished
 * @throws ContractError if the state is in a command that no option names, or its module has no such pact
 */
export function readPact(cached: CachedPact | null, id: string, modules: ModuleSource): PactState | null {
  if (cached === null) return null
  if ('step' in cached) {
    const where = `the state of pact ${id} before step ${cached.step} is in the result of another command`
    throw evalError(`The forked network does not report it: ${where}; name its request key with \`fork.pactKeys\``)
  }
  return pactIn(parseExactJson(cached.continuation), modules)
}

function pactIn(json: ExactJson, modules: ModuleSource): PactState {
  const { pactId, step, continuation, nested, yield: yielded } = fieldsOf(json)
  const { def, args } = fieldsOf(continuation)
  const name = splitName(String(def))
  const fun = name === null ? undefined : modules.module(name.module)?.get(name.member)
  if (!(fun instanceof FunctionDefinition)) throw evalError(`The forked network has no defpact ${String(def)}`)
  return {
    id: String(pactId),
    fun,
    args: valueFromJson(args ?? []) as readonly Value[],
    step: Number(step),
    yielded: yieldIn(yielded ?? null),
    nested: new Map(Object.entries(fieldsOf(nested)).map(([id, each]) => [id, pactIn(each, modules)])),
  }
}

function yieldIn(json: ExactJson): PactState['yielded'] {
  if (json === null) return null
  const { data, provenance, source } = fieldsOf(json)
  const { targetChainId, moduleHash } = fieldsOf(provenance)
  return {
    data: valueFromJson(data ?? {}) as ObjectValue,
    provenance:
      typeof targetChainId === 'string' && typeof moduleHash === 'string' ? { chain: targetChainId, moduleHash } : null,
    source: typeof source === 'string' ? source : null,
  }
}
