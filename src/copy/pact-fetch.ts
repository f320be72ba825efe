/**
 * Fetches the state of a pact at the pin. No native describes pacts, so a continuation is tried that is always refused:
 * the text of the refusal tells which step is next. The state that the step before left is in the result of its command.
 */
import { exactJsonText, fieldsOf, parseExactJson } from '../base/json.ts'
import type { Asker } from './asker.ts'
import type { ForkCache } from './cache.ts'
import { refused } from './pin.ts'
import { odd } from './question.ts'

/** A pact as it is cached: its continuation as JSON text, or the step that none of the commands with these keys tells. */
export type CachedPact = { readonly continuation: string } | { readonly step: number; readonly keys: readonly string[] }

/** Caches a pact: false if there is none, null if it is finished. */
export async function fetchPact(asker: Asker, cache: ForkCache, id: string, keys: readonly string[]): Promise<void> {
  const answer = await asker.run({ cont: { pactId: id, step: 0, rollback: false, data: {}, proof: null } })
  if ('value' in answer) throw odd(asker, answer.value)
  const place = `pact:${id}`
  const { failure } = answer
  const step = /step mismatch/i.test(failure) ? nextStepIn(failure) : null
  if (/already completed/i.test(failure)) cache.put(place, null)
  else if (step === null) cache.put(place, false)
  else cache.put(place, await stateBefore(asker, { id, step, keys }))
}

/** The last number of the refusal is the step that the pact wants. */
function nextStepIn(failure: string): number | null {
  const last = [...failure.matchAll(/\d+/g)].at(-1)
  return last === undefined ? null : Number(last[0])
}

/** The continuation that the step before left. */
async function stateBefore(
  asker: Asker,
  { id, step, keys }: { readonly id: string; readonly step: number; readonly keys: readonly string[] },
): Promise<CachedPact> {
  const { status, text } = await asker.remote.post(asker.path('poll'), { requestKeys: [...new Set([id, ...keys])] })
  if (status !== 200) throw refused(asker.remote, `the results of pact ${id}`, status, text)
  const results = fieldsOf(parseExactJson(text))
  for (const result of Object.values(results)) {
    const { continuation } = fieldsOf(result)
    const { pactId, step: done } = fieldsOf(continuation)
    if (pactId === id && Number(done) === step - 1) return { continuation: exactJsonText(continuation ?? null) }
  }
  return { step, keys }
}

/** Forgets cached pacts whose state was in no command that was named, if there are other commands now. */
export function forgetUntold(cache: ForkCache, keys: readonly string[]): void {
  for (const [place, kept] of [...cache.withPrefix('pact:')]) {
    const { step, keys: asked = [] } = (kept || {}) as { readonly step?: number; readonly keys?: readonly string[] }
    if (step !== undefined && keys.some((key) => !asked.includes(key))) cache.forget(place)
  }
}
