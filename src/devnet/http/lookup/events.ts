/** Events of transactions by name, over all blocks. */
import { type ExactJson, exactJsonText, parseExactJson } from '#ground/base/json.ts'
import { JsonObjectWriter } from '../encode/json-object.ts'
import { RequestRefused } from '../refusal.ts'
import { type BlockQuery, createdMs, type SearchedBlock, type SearchedNode, searchBlocks } from './block-search.ts'

interface EventQuery extends BlockQuery {
  readonly name?: string | undefined
  /** Only events that have this text as a parameter. */
  readonly account?: string | undefined
  readonly orphans?: boolean | undefined
}

/** `NAME`, `module.NAME`, `ns.module.NAME`, or `*` in place of NAME; `ns.*` has all modules of a namespace. */
const NAME = /^(?:((?:[^\s.*]+\.)?[^\s.*]+)\.)?([^\s.*]+|\*)$/
const decoder = new TextDecoder()

/** @returns JSON of a page of events; parameters keep all digits. @throws RequestRefused */
export function eventPageText(node: SearchedNode, query: EventQuery): string {
  const isNamed = nameFilter(query.name)
  const { account } = query
  const isOf: IsOf = (params) => account === undefined || (Array.isArray(params) && params.includes(account))
  const withOrphans = query.orphans === true
  const { items, next, searchedTo } = searchBlocks(node, query, (searched) => {
    return searched.isOrphan && !withOrphans ? [] : eventTexts(searched, isNamed, isOf)
  })
  return new JsonObjectWriter().raw('events', `[${items.join(',')}]`).fields({ next, searchedTo }).text
}

type IsNamed = (module: string, name: string) => boolean
type IsOf = (params: ExactJson) => boolean

function nameFilter(wanted: string | undefined): IsNamed {
  if (wanted === undefined || wanted === '') return () => true
  const parts = NAME.exec(wanted)
  if (parts === null) {
    const shown = JSON.stringify(wanted.slice(0, 80))
    throw new RequestRefused(400, `name ${shown}: expected an event such as coin.TRANSFER, TRANSFER, coin.* or free.*`)
  }
  const [, module, name] = parts
  const isWithin = (itsModule: string) => name === '*' && itsModule.startsWith(`${module}.`)
  return (itsModule, itsName) =>
    (module === undefined || module === itsModule || isWithin(itsModule)) && (name === '*' || name === itsName)
}

type EventFields = Readonly<Record<string, ExactJson>>

function eventTexts({ block, isOrphan }: SearchedBlock, isNamed: IsNamed, isOf: IsOf): string[] {
  const { chain, height, id } = block
  const texts: string[] = []
  let index = 0
  for (const { output } of block.payload.transactions) {
    const text = decoder.decode(output)
    // Parsing takes most of the time, and many results have no events.
    if (!text.includes('"events":[{')) continue
    const { events = [], reqKey } = parseExactJson(text) as { readonly events?: readonly EventFields[]; reqKey: string }
    for (const event of events) {
      const { name, module, moduleHash, params } = event
      const { namespace, name: bare } = module as EventFields
      const qualified = namespace === null ? String(bare) : `${String(namespace)}.${String(bare)}`
      const place = { chain, height, block: id, isOrphan, createdMs: createdMs(block), index: index++ }
      if (!isNamed(qualified, String(name)) || !isOf(params)) continue
      const about = { requestKey: reqKey, ...place, module: qualified, name, moduleHash }
      texts.push(new JsonObjectWriter().fields(about).raw('params', exactJsonText(params)).text)
    }
  }
  return texts
}
