/** Tries a command out, shows what it would do, sends it, and follows it into a block. */
import type { TransactionDetails } from '#ground/schema/lookup.ts'
import { element, make, write } from '../../kit/dom.ts'
import { groupDigits } from '../../kit/numbers.ts'
import { askNode, textOfError } from './ask.ts'
import { curlText } from './call.ts'
import { eventRow, type ResultEvent } from './event-row.ts'
import { transactionLink } from './place.ts'
import { pathWith } from './query.ts'
import { type CommandDraft, type SignedDraft, titleOf } from './signing.ts'
import { stepLink } from './trace-link.ts'
import { type ShownStep, type ShownTrace, StepTree } from './trace-tree.ts'
import { briefValue, type FailedResult, faultText, plainDecimal } from './value-text.ts'

interface TriedResult {
  readonly gas: number
  readonly result: { readonly status: string; readonly data?: unknown; readonly error?: FailedResult }
  readonly events?: readonly ResultEvent[]
}

type LocalAnswer =
  | TriedResult
  | { readonly preflightResult: TriedResult; readonly preflightWarnings?: readonly string[] }

export interface SendTrialOptions {
  /** Path of a chain in the interface of the node. */
  readonly chainPath: (chain: number) => string
  /** Adds a capability to what an account signs. */
  readonly onSuggest: (account: string, capability: string) => void
}

export class SendTrial {
  readonly #options: SendTrialOptions
  #tried: { readonly draft: CommandDraft; readonly signed: SignedDraft } | null = null
  /** Request key of the command that was sent last. */
  #sent = ''
  #sentTo = 0
  /** Counts trials: answers to earlier ones are dropped. */
  #run = 0

  constructor(options: SendTrialOptions) {
    this.#options = options
    element('send').addEventListener('click', () => void this.#send())
    element('make-block').addEventListener('click', () => void this.#makeBlock())
  }

  /** Forgets the trial: the form has changed since. */
  reset(): void {
    this.#run++
    this.#tried = null
    element('trial').hidden = true
    element<HTMLButtonElement>('send').disabled = true
  }

  async run(draft: CommandDraft, signed: SignedDraft): Promise<void> {
    this.reset()
    const number = this.#run
    element('trial').hidden = false
    this.#outcome('waiting', 'trying it out')
    write('trial-code', titleOf(draft))
    for (const id of ['trial-result', 'trial-gas']) write(id, '')
    for (const id of ['trial-events', 'suggestions', 'trial-trace']) element(id).replaceChildren()
    const path = `${this.#options.chainPath(draft.chain)}/pact/api/v1/local?preflight=true&signatureVerification=true`
    write(
      'command',
      curlText('POST', `${this.#options.chainPath(draft.chain)}/pact/api/v1/send`, JSON.stringify({ cmds: [signed] })),
    )
    try {
      const answer = await askNode<LocalAnswer>(path, signed)
      if (number !== this.#run) return
      this.#showTried(draft, 'preflightResult' in answer ? answer.preflightResult : answer)
      this.#tried = { draft, signed }
      element<HTMLButtonElement>('send').disabled = false
    } catch (error) {
      if (number !== this.#run) return
      this.#outcome('failure', `refused: ${textOfError(error)}`)
    }
    await this.#showTrace(draft, signed, number)
  }

  #showTried({ gasLimit, gasPrice }: CommandDraft, { gas, result, events = [] }: TriedResult): void {
    const isGood = result.status === 'success'
    this.#outcome(result.status, isGood ? 'would succeed' : 'would fail')
    const fee = Number((gas * Number(gasPrice)).toPrecision(12))
    write('trial-gas', `${groupDigits(gas)} of ${groupDigits(gasLimit)} gas, ${plainDecimal(fee)} coins`)
    write('trial-result', isGood ? briefValue(result.data) : faultText(result.error))
    element('trial-events').replaceChildren(...events.map((each) => eventRow(each)))
    write('send', isGood ? 'Send' : 'Send anyway')
  }

  #outcome(outcome: string, text: string): void {
    element('trial-outcome').dataset.outcome = outcome
    write('trial-outcome', text)
  }

  async #showTrace(draft: CommandDraft, signed: SignedDraft, number: number): Promise<void> {
    try {
      const trace = await askNode<ShownTrace>('/devnet/trace', { cmd: signed })
      if (number !== this.#run) return
      const tree = new StepTree(trace.trace, (step) => stepLink(step, trace, () => undefined))
      element('trial-trace').replaceChildren(...tree.keysetsPart(), tree.element)
      if (trace.status === 'failure') this.#suggest(draft, trace.trace)
    } catch (error) {
      element('trial-trace').replaceChildren(make('p', { class: 'none' }, textOfError(error)))
    }
  }

  /** Offers to sign the managed capabilities that the trial lacks. */
  #suggest({ sender }: CommandDraft, trace: ShownStep): void {
    const wanted = new Set(refusedCapabilities(trace))
    const buttons = [...wanted].map((text) => {
      const add = make('button', { type: 'button', class: 'small' }, `Sign ${text}`)
      add.addEventListener('click', () => {
        this.#options.onSuggest(sender, text)
        add.disabled = true
      })
      return add
    })
    element('suggestions').replaceChildren(...buttons)
  }

  async #send(): Promise<void> {
    if (this.#tried === null) return
    const { draft, signed } = this.#tried
    element<HTMLButtonElement>('send').disabled = true
    const status = element('sent-status')
    element('sent').hidden = false
    element('sent-link').replaceChildren(transactionLink(signed.hash))
    write(status, 'sending')
    try {
      await askNode(`${this.#options.chainPath(draft.chain)}/pact/api/v1/send`, { cmds: [signed] })
      this.#sent = signed.hash
      this.#sentTo = draft.chain
      await this.follow()
    } catch (error) {
      status.dataset.outcome = 'failure'
      write(status, `refused: ${textOfError(error)}`)
    }
  }

  /** Shows where the command is that was sent last. Call it when blocks have come. */
  async follow(): Promise<void> {
    if (this.#sent === '') return
    const key = this.#sent
    const found = await askNode<TransactionDetails>(pathWith('/devnet/transaction', { requestKey: key }))
    if (key !== this.#sent) return
    const [block] = found.blocks
    const result = block?.result as TriedResult | undefined
    const status = element('sent-status')
    element('make-block').hidden = block !== undefined
    status.dataset.outcome = result?.result.status ?? 'waiting'
    if (block === undefined) write(status, `waits in the mempool of chain ${this.#sentTo} for a block`)
    else {
      const where = `in block ${groupDigits(block.height)} of chain ${block.chain}`
      const { status: outcome = '', error, data } = result?.result ?? {}
      write(status, `${outcome} ${where}: ${error === undefined ? briefValue(data) : faultText(error)}`)
    }
  }

  async #makeBlock(): Promise<void> {
    try {
      await askNode('/devnet/make-blocks', { [this.#sentTo]: 1 })
    } catch (error) {
      write('sent-status', textOfError(error))
    }
  }
}

/** Values in traces are cut at this many characters: a longer one cannot be signed. */
const MAX_VALUE = 256

/** Capabilities in source form that a trace shows as refused, deepest first. */
function refusedCapabilities(step: ShownStep): string[] {
  const inner = step.children.flatMap(refusedCapabilities)
  const isRefused = step.kind === 'capability' && step.error !== undefined && /not (been )?installed/i.test(step.error)
  if (!isRefused || step.args.some((arg) => arg.length >= MAX_VALUE)) return inner
  return [...inner, `(${[step.name, ...step.args].join(' ')})`]
}
