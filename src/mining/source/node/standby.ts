/** Transitions of the standby work: requested, kept and dropped. */
import type { Work } from '#ground/chain/work.ts'
import { isBetter } from './choice.ts'
import { isUseful, type Standby } from './state.ts'
import type { Transition } from './transition.ts'

/** Requests standby work, unless a request is running. */
export function wantStandby(t: Transition): void {
  if (t.state.standby.kind !== 'asking') askStandby(t, null, null)
}

/** Handles the end of the pause before the next request for standby work. */
export function standbyPauseOver(t: Transition): void {
  const { standby } = t.state
  if (standby.kind === 'wanted') wantStandby(t)
  else if (standby.kind === 'ready' && standby.isDue) renewStandby(t)
}

/** Requests standby work of this chain, or of any but the current one if null. `spare` stands by meanwhile. */
export function askStandby(t: Transition, chain: number | null, spare: Work | null): void {
  const searched = t.searched
  if (searched === null || !t.hasOtherChain(searched)) {
    t.set({ standby: { kind: 'none' } })
    return
  }
  const request = t.takeRequest()
  t.set({
    standby: { kind: 'asking', request, askedAtMs: t.atMs, spare, chain, beside: searched, overtaken: new Set() },
  })
  const { awaited } = t.state
  t.effects.push(
    chain === null
      ? { type: 'ask', purpose: 'standby', request, notAmong: [searched, ...awaited] }
      : { type: 'ask', purpose: 'standby', request, chain },
  )
}

/** Pauses before the next request for standby work. */
export function pauseStandby(t: Transition): void {
  t.effects.push({ type: 'pause', purpose: 'standby', attempts: 1 })
}

/** Drops useless standby work. */
export function dropStandby(t: Transition): void {
  const { standby } = t.state
  if (standby.kind === 'ready') t.set({ standby: { kind: 'wanted' } })
  else if (standby.kind === 'asking') t.set({ standby: { ...standby, spare: null } })
  wantStandby(t)
}

/** Requests the same standby work again. It stands by until the answer arrives. */
export function renewStandby(t: Transition): void {
  const { standby } = t.state
  if (standby.kind === 'ready') askStandby(t, standby.work.fields.chainId, standby.work)
}

/** Keeps useful standby work, and cancels a running request. */
export function reconsiderStandby(t: Transition): void {
  const { standby } = t.state
  const spare = t.spare
  if (standby.kind === 'asking') t.effects.push({ type: 'cancel', request: standby.request })
  if (spare !== null && isUseful(t.state, spare)) t.set({ standby: { kind: 'ready', work: spare } })
  else if (standby.kind !== 'none') t.set({ standby: { kind: 'wanted' } })
}

/** Chooses the better of answered work and the spare, if the node answered with another chain than requested. */
export function chooseSpare(t: Transition, { spare, chain }: Standby & { readonly kind: 'asking' }, work: Work): Work {
  if (spare === null || chain === work.fields.chainId || chain === spare.fields.chainId) return work
  return isBetter(t.state.rewards, spare.fields.chainId, work.fields.chainId) ? spare : work
}

/** Whether the standby work is being renewed, or will be. */
export function isRenewed(standby: Standby): boolean {
  if (standby.kind === 'ready') return standby.isDue === true
  return standby.kind === 'asking' && standby.spare !== null && standby.chain === standby.spare.fields.chainId
}
