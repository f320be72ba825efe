/** Modules and tables in the state at the head of a chain. */

import { suggestName } from '#ground/base/similar-names.ts'
import { DEFAULT_LOOKUP_ITEMS, type ModuleDetails, type ModuleList } from '#ground/schema/lookup.ts'
import { ContractError } from '#language/contracts/errors.ts'
import { type Definition, type Module, TableDefinition } from '#language/contracts/machine/ast.ts'
import { domainOfRows } from '#language/contracts/machine/state.ts'
import { typeFormSource, typeSource } from '#language/contracts/machine/types.ts'
import { type CallableOutline, type Outline, outlinesOf, type TypedField } from '#language/contracts/syntax/outline.ts'
import type { ObjectValue } from '#language/contracts/values/value.ts'
import { valueToJson } from '#language/contracts/values/wire.ts'
import type { BlockState } from '../../ledger/block-state.ts'
import type { TransactionIndex } from '../../store/transaction-index.ts'
import { JsonObjectWriter } from '../encode/json-object.ts'
import { RequestRefused } from '../refusal.ts'
import { readHead, type StateSource } from './head-state.ts'

export interface ContractsSource extends StateSource {
  readonly index: TransactionIndex
}

interface TableQuery {
  readonly name: string
  readonly search?: string | undefined
  readonly key?: string | undefined
  readonly limit?: number | undefined
  readonly next?: string | undefined
}

export class Contracts {
  readonly #node: ContractsSource

  constructor(node: ContractsSource) {
    this.#node = node
  }

  /** @throws RequestRefused, NewcutError if a forked node does not answer */
  async list(chain: number): Promise<ModuleList> {
    const newest = await this.#newest()
    return readHead(this.#node, chain, (state, height) => {
      const fetched = this.#node.fork?.fetchedOf(chain)?.fetchedModules
      const own = new Set(fetched === undefined ? [] : state.keys('modules', []))
      const names = state.keys('modules')
      const modules = names.map((name) => ({
        name,
        isFetched: fetched === undefined || fetched.has(name) || own.has(name),
      }))
      const missing = modules.filter(({ isFetched }) => !isFetched).length
      const note =
        missing === 0
          ? null
          : `${missing} of these modules are not fetched yet from ${this.#live}; opening one fetches it`
      return { chain, height, modules, newest, note }
    })
  }

  /** @throws RequestRefused, NewcutError if a forked node does not answer */
  module(chain: number, name: string): Promise<ModuleDetails> {
    return readHead(this.#node, chain, (state) => {
      const module = moduleIn(state, chain, name)
      return foundModule(module, chain, (table) => state.get('tables', table) !== undefined)
    })
  }

  /** @returns JSON of a page of rows. @throws RequestRefused, NewcutError if a forked node does not answer */
  table(chain: number, query: TableQuery): Promise<string> {
    return readHead(this.#node, chain, (state, height) => {
      const table = tableIn(state, chain, query.name)
      const domain = domainOfRows(table)
      const fetched = this.#node.fork?.fetchedOf(chain)?.fetchedRows(table.qualified)
      const { keys, note } = this.#keysOf(state, domain, fetched, query)
      const { limit = DEFAULT_LOOKUP_ITEMS, next: after, search = '' } = query
      const listed = search === '' ? keys : keys.filter((key) => key.includes(search))
      const left = after === undefined ? listed : listed.filter((key) => key > after)
      const shown = left.slice(0, limit)
      const rows = shown.map((key) => `{"key":${JSON.stringify(key)},"row":${rowText(state.get(domain, key))}}`)
      const { schema } = table
      const fields =
        schema && [...schema.fields].map(([name, type]) => ({ name, type: type === null ? null : typeSource(type) }))
      const about = { chain, height, table: table.qualified, fields, total: listed.length }
      const next = left.length > limit ? shown[shown.length - 1] : null
      return new JsonObjectWriter().fields({ ...about, next, note }).raw('rows', `[${rows.join(',')}]`).text
    })
  }

  #keysOf(
    state: BlockState,
    domain: ReturnType<typeof domainOfRows>,
    fetched: { readonly keys: readonly string[]; readonly isComplete: boolean } | undefined,
    { key }: TableQuery,
  ): { readonly keys: readonly string[]; readonly note: string | null } {
    if (key !== undefined) return { keys: state.get(domain, key) === undefined ? [] : [key], note: null }
    if (fetched === undefined) return { keys: state.keys(domain), note: null }
    const keys = state.keys(domain, fetched.keys)
    if (fetched.isComplete) return { keys, note: null }
    const known = `rows written here, and those of ${this.#live} that something has read`
    return { keys, note: `only ${known}, are listed. A row that is not listed is fetched by its key` }
  }

  /** Name of the forked network. */
  get #live(): string {
    return this.#node.fork?.pin.network ?? 'this network'
  }

  /** The module that was deployed last on any chain; null while there are only those of the first blocks. */
  async #newest(): Promise<ModuleList['newest']> {
    const { chains, ledger, index } = this.#node
    let newest: ModuleList['newest'] = null
    let newestRecord = -1
    for (const chain of chains.chainIds) {
      await readHead(this.#node, chain, (state) => {
        for (const name of state.keys('modules', [])) {
          for (const { block } of index.find(state.get<Module>('modules', name)?.txHash ?? '')) {
            const found = chains.store.byId(block, chain)
            const record = found === undefined ? -1 : chains.store.recordOf(found)
            if (record <= newestRecord || !ledger.isOnChain(chain, record)) continue
            newest = { chain, name }
            newestRecord = record
          }
        }
      })
    }
    return newest
  }
}

/** @throws RequestRefused for a module that the chain has not, or that cannot be had from a fork */
function moduleIn(state: BlockState, chain: number, name: string): Module {
  try {
    const module = state.get<Module>('modules', name)
    if (module !== undefined) return module
  } catch (error) {
    if (error instanceof ContractError) throw new RequestRefused(404, error.wireMessage)
    throw error
  }
  throw new RequestRefused(404, `chain ${chain} has no module ${JSON.stringify(name.slice(0, 200))}`)
}

/** @throws RequestRefused for a table that no module defines */
function tableIn(state: BlockState, chain: number, name: string): TableDefinition {
  const dot = name.lastIndexOf('.')
  if (dot < 1) {
    throw new RequestRefused(
      400,
      `name ${JSON.stringify(name.slice(0, 200))}: expected module.table, such as coin.coin-table`,
    )
  }
  const [owner, bare] = [name.slice(0, dot), name.slice(dot + 1)]
  const module = moduleIn(state, chain, owner)
  const found: Definition | undefined = module.get(bare)
  if (found instanceof TableDefinition) return found
  const tables = [...module.definitions].flatMap(([name, each]) => (each instanceof TableDefinition ? [name] : []))
  const guess = suggestName(bare, tables)
  throw new RequestRefused(404, `module ${owner} of chain ${chain} has no table ${JSON.stringify(bare)}${guess}`)
}

const rowText = (row: ObjectValue | undefined) => (row === undefined ? 'null' : valueToJson(row))

function foundModule(module: Module, chain: number, isCreated: (table: string) => boolean): ModuleDetails {
  const outline = outlineOf(module)
  const { name, hash, txHash, interfaces, blessed, code, governance } = module
  const upgradedBy = 'keyset' in governance ? `keyset ${governance.keyset}` : `capability ${governance.capability}`
  return {
    chain,
    name,
    kind: module.isInterface ? 'interface' : 'module',
    hash,
    doc: outline.doc,
    txHash,
    governance: module.isInterface ? null : upgradedBy,
    interfaces: [...interfaces],
    blessed: [...blessed],
    code,
    functions: outline.functions.map(callable),
    pacts: outline.pacts.map(callable),
    capabilities: outline.capabilities.map((each) => ({ ...callable(each), mark: each.mark })),
    schemas: outline.schemas.map(({ name: own, doc, fields }) => ({ name: own, doc, fields: fields.map(parameter) })),
    tables: outline.tables.map((each) => ({ ...each, isCreated: isCreated(`${name}.${each.name}`) })),
    constants: outline.constants.map(({ name: own, doc, type, text }) => {
      return { name: own, doc, type: type && typeFormSource(type), value: text }
    }),
  }
}

/** A deployed module as its text has it. Its text has no namespace, but its name has. */
function outlineOf({ code, namespace, name }: Module): Outline {
  const [outline] = outlinesOf(code, namespace)
  if (outline === undefined) throw new Error(`the text of module ${name} has no module`)
  return outline
}

const parameter = ({ name, type }: TypedField) => ({ name, type: type && typeFormSource(type) })

function callable({ name, doc, params, result }: CallableOutline) {
  return { name, doc, params: params.map(parameter), result: result && typeFormSource(result) }
}
