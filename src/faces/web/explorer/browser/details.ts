/** The dialog with all facts about a block or transaction, as its endpoints return them. */
import type { NetworkView } from '#ground/schema/view.ts'
import { element, make, write } from '../../kit/dom.ts'
import { askNode } from './ask.ts'
import { callNode } from './call.ts'
import { indent } from './json-text.ts'
import { chainPath } from './node-calls.ts'
import { transactionUrl } from './place.ts'
import { pathWith } from './query.ts'
import type { KnownBlock } from './state.ts'

export class Details {
  readonly #dialog = element<HTMLDialogElement>('details')
  #shown = 0

  constructor() {
    element('details-close').addEventListener('click', () => this.#dialog.close())
    this.#dialog.addEventListener('click', (event) => {
      if (event.target === this.#dialog) this.#dialog.close()
    })
    // The same link opens the block again.
    this.#dialog.addEventListener('close', () => history.replaceState(null, '', location.pathname))
  }

  /** Opens the block of a link. @param hash null for the one that the chain has at this height */
  async blockAt(chain: number, height: number, hash: string | null, network: NetworkView): Promise<void> {
    const number = this.#open(`Block · chain ${chain} · height ${height}`, hash ?? '')
    const at = { minheight: height, maxheight: height }
    const { items } = await askNode<{ readonly items: readonly string[] }>(
      pathWith(`${chainPath(network, chain)}/hash`, at),
    )
    if (number !== this.#shown) return
    const [own] = items
    const wanted = hash ?? own
    if (wanted === undefined) throw new Error(`chain ${chain} has no block at height ${height} yet`)
    await this.block({ chain, height, hash: wanted, isOnChain: wanted === own }, network)
  }

  async block(
    { chain, height, hash, isOnChain }: Pick<KnownBlock, 'chain' | 'height' | 'hash' | 'isOnChain'>,
    network: NetworkView,
  ): Promise<void> {
    const base = chainPath(network, chain)
    const title = `${isOnChain ? 'Block' : 'Orphan'} · chain ${chain} · height ${height}`
    const number = this.#open(title, hash)
    const header = await this.#ask(`${base}/header/${hash}`, 'application/json;blockheader-encoding=object')
    const { payloadHash } = JSON.parse(header) as { readonly payloadHash?: string }
    const outputs = await this.#ask(`${base}/payload/${payloadHash}/outputs`)
    this.#fill(number, [
      ['Header', indent(header)],
      ['Payload with outputs', indent(readable(outputs))],
    ])
  }

  async transaction(chain: number, key: string, network: NetworkView): Promise<void> {
    const number = this.#open(`Transaction · chain ${chain}`, key)
    const link = element<HTMLAnchorElement>('details-link')
    link.hidden = false
    link.href = transactionUrl(key)
    const base = chainPath(network, chain)
    const poll = await callNode('POST', `${base}/pact/api/v1/poll`, JSON.stringify({ requestKeys: [key] }))
    const pool = await callNode('POST', `${base}/mempool/lookup`, JSON.stringify([key]))
    const isDone = poll.text !== '{}'
    this.#fill(number, [
      isDone ? ['Result', indent(poll.text)] : ['Result', 'None yet: no block of this chain contains it.'],
      ['Mempool', indent(unfold(pool.text))],
    ])
  }

  #open(title: string, hash: string): number {
    write('details-title', title)
    write('details-hash', hash)
    element('details-link').hidden = true
    element('details-body').replaceChildren(make('p', { class: 'none' }, 'asking the node'))
    if (!this.#dialog.open) this.#dialog.showModal()
    return ++this.#shown
  }

  /** Fills the dialog, unless it shows something else by now. */
  #fill(number: number, parts: readonly (readonly [title: string, text: string])[]): void {
    if (number !== this.#shown) return
    const made = parts.flatMap(([title, text]) => [make('h3', {}, title), make('pre', { tabindex: '0' }, text)])
    element('details-body').replaceChildren(...made)
  }

  async #ask(path: string, accept = 'application/json'): Promise<string> {
    const answer = await fetch(path, { headers: { accept } })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return text
  }
}

/** Decodes the base64url JSON parts of a payload. */
function readable(payload: string): string {
  return payload.replace(/"([\w-]{20,})"/g, (whole, text: string) => {
    try {
      const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0))
      const json = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      JSON.parse(json)
      return unfold(json)
    } catch {
      return whole
    }
  })
}

/** Parses the nested JSON texts of a signed command. */
function unfold(json: string): string {
  return json.replace(/"(?:cmd|contents)":("(?:[^"\\]|\\.)*")/g, (whole, text: string) => {
    try {
      const inner = JSON.parse(text) as string
      JSON.parse(inner)
      return whole.replace(text, () => unfold(inner))
    } catch {
      return whole
    }
  })
}
