/** The page that sends a command: fields, a trial, and the way into a block. */
import { developmentAccounts } from '../../../core/development-accounts.ts'
import { element, make, write } from '../../kit/dom.ts'
import { textOfError } from './ask.ts'
import { fillChains, once, openFrame } from './frame.ts'
import { FieldFault } from './literal.ts'
import { placeOf } from './place.ts'
import { SendForm } from './send-form.ts'
import { signedDraft } from './signing.ts'
import type { NodeState } from './state.ts'
import { SendTrial } from './trial.ts'

/** Commands are this much older than the clock of the node: its blocks may be a little behind. */
const PAST_SECONDS = 15

let state: NodeState | null = null
const form = new SendForm()
const trial = new SendTrial({
  chainPath: (chain) => {
    const { product = '', name = '' } = state?.view.network ?? {}
    return `/${product}/0.0/${name}/chain/${chain}`
  },
  onSuggest: (account, capability) => {
    form.signatures.addCapability(account, capability)
    void tryOut()
  },
})

/** Clock of the node, in seconds. */
async function nodeSeconds(): Promise<number> {
  const { headers } = await fetch('/health-check', { cache: 'no-store', headers: { 'x-newcut-page': '1' } })
  return Number(headers.get('x-server-timestamp')) || Math.floor(Date.now() / 1000)
}

async function tryOut(): Promise<void> {
  write('form-fault', '')
  trial.reset()
  try {
    const read = form.read(state?.view.network.name ?? '')
    const draft = { ...read, creationTime: (await nodeSeconds()) - PAST_SECONDS }
    await trial.run(draft, await signedDraft(draft))
  } catch (error) {
    if (error instanceof FieldFault && error.cause instanceof HTMLElement) error.cause.focus()
    write('form-fault', textOfError(error))
  }
}

const follow = once(() => trial.follow().catch(() => undefined))

element('known-accounts').replaceChildren(
  ...developmentAccounts.map(({ account }) => make('option', { value: account })),
)
element('send-form').addEventListener('submit', (event) => {
  event.preventDefault()
  void tryOut()
})
element('send-form').addEventListener('input', () => trial.reset())

openFrame({
  onStart: (now) => {
    state = now
    const place = placeOf()
    fillChains('chain', now.view.heads.length, place.get('chain') ?? '0')
    element<HTMLInputElement>('module').value = place.get('module') ?? 'coin'
    element('not-here').hidden = now.view.status !== undefined
    const showTrouble = (error: unknown) => write('module-fault', textOfError(error))
    form.listModules().catch(showTrouble)
    void form.openModule(place.get('function') ?? 'transfer')
  },
  onChange: (now, { heads }) => {
    state = now
    if (heads !== undefined) follow()
  },
})
