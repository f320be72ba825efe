/** Fetches modules with all modules that they name, wave by wave. */
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { type ExactJson, fieldsOf, parseExactJson, unlessMalformed } from '#ground/base/json.ts'
import { decodeHeader } from '#ground/chain/header.ts'
import { ConstantsFetch } from './constants-fetch.ts'
import type { CachedOrigin, EntrySource } from './entries.ts'
import { type ModuleOrigin, modulesIn, namespaceOf, originIn } from './module-text.ts'
import { networkPath } from './pin.ts'
import type { PinnedCaller } from './pinned-caller.ts'
import { askAll, type PinnedQuery, stringCode, textField, wrongFormError } from './question.ts'

const decoder = new TextDecoder()

/**
 * Fetches the list of modules of the chain, and these modules with all that they depend on.
 * @throws NewcutError if the node refuses, or returns values of a wrong form
 */
export async function fetchModules(source: EntrySource, names: readonly string[]): Promise<void> {
  const { caller, entries } = source
  const { modules } = entries
  if (entries.moduleNames.get() === undefined) await fetchNames(source)
  const known = new Set(entries.moduleNames.expect())
  const fetched: string[] = []
  const wanted = names.filter((name) => known.has(name))
  let wave = wanted.filter((name) => !modules.has(name))
  // A process that ended in between may have left modules without constants.
  let constants = wanted.filter((name) => !wave.includes(name) && !entries.constants.has(name))
  while (wave.length > 0 || constants.length > 0) {
    const values = constants.map((name) => new ConstantsFetch(source, name, modules.expect(name).code))
    await askAll(caller, [
      ...wave.map((name) => moduleQuestion(source, name)),
      ...values.flatMap((each) => each.questions),
    ])
    await askAll(
      caller,
      values.flatMap((each) => each.nested),
    )
    for (const each of values) each.cacheConstants()
    fetched.push(...wave)
    const next = new Set<string>()
    for (const name of wave) {
      const { code } = modules.expect(name)
      for (const other of modulesIn(code, namespaceOf(name), known)) if (!modules.has(other)) next.add(other)
    }
    constants = wave
    wave = [...next]
  }
  await fetchOrigins(source, fetched)
}

function fetchNames({ caller, entries }: EntrySource): Promise<void> {
  const take = (value: ExactJson) => {
    const isNames = (json: ExactJson): json is readonly string[] =>
      Array.isArray(json) && json.every((name) => typeof name === 'string')
    if (!isNames(value)) throw wrongFormError(caller, value)
    entries.moduleNames.put(value)
  }
  return askAll(caller, [{ code: '(list-modules)', take }])
}

function moduleQuestion({ caller, entries }: EntrySource, name: string): PinnedQuery {
  return {
    code: `(describe-module ${stringCode(name)})`,
    take: (value) => {
      const field = (key: string) => textField(caller, value, key)
      entries.modules.put(name, { code: field('code'), hash: field('hash'), txHash: field('tx_hash') })
    },
  }
}

/**
 * Finds the commands that deployed modules, for the lines of their failures and for imports before the module. The first
 * block of a network and upgrades by a release have no such commands.
 */
async function fetchOrigins({ caller, entries }: EntrySource, names: readonly string[]): Promise<void> {
  const wanted = names.map((name) => ({ name, module: entries.modules.expect(name) }))
  const keys = [...new Set(wanted.map(({ module }) => module.txHash))]
  if (keys.length === 0) return
  const polled = await caller.remote.post(caller.path('poll'), { requestKeys: keys })
  const results = polled.status === 200 ? fieldsOf(parseExactJson(polled.text)) : {}
  await Promise.all(
    keys.map(async (key) => {
      const { blockHash } = fieldsOf(fieldsOf(results[key]).metaData)
      const text = typeof blockHash === 'string' ? await codeIn(caller, blockHash, key) : null
      for (const { name, module } of wanted.filter((each) => each.module.txHash === key)) {
        const origin = text === null ? null : originIn(text, module.code, namespaceOf(name))
        if (origin !== null) entries.origins.put(name, cachedOriginOf(origin))
      }
    }),
  )
}

const cachedOriginOf = ({ place, imports }: ModuleOrigin): CachedOrigin => ({ ...place, imports })

/** The code of a command in a block. @returns null if the node does not return it */
async function codeIn(caller: PinnedCaller, block: string, key: string): Promise<string | null> {
  const { network, chain } = caller.block
  const root = `${networkPath(network)}/chain/${chain}`
  const header = await caller.remote.get(`${root}/header/${block}`)
  const payloadHash = header.status === 200 ? payloadHashIn(header.text) : null
  if (payloadHash === null) return null
  const payload = await caller.remote.get(`${root}/payload/${payloadHash}`)
  if (payload.status !== 200) return null
  const { transactions } = fieldsOf(parseExactJson(payload.text))
  for (const each of Array.isArray(transactions) ? (transactions as readonly ExactJson[]) : []) {
    const code = codeOf(each, key)
    if (code !== null) return code
  }
  return null
}

/** Hash of the payload in a header, as base64url of its bytes or as an object. @returns null if there is none */
export function payloadHashIn(text: string): string | null {
  const json = parseExactJson(text)
  if (typeof json === 'string') {
    const header = unlessMalformed(() => decodeHeader(decodeBase64Url(json, 'header')))
    return header === null ? null : encodeBase64Url(header.payloadHash)
  }
  const { payloadHash } = fieldsOf(json)
  return typeof payloadHash === 'string' ? payloadHash : null
}

function codeOf(transaction: ExactJson, key: string): string | null {
  if (typeof transaction !== 'string') return null
  return unlessMalformed(() => {
    const { hash, cmd } = fieldsOf(parseExactJson(decoder.decode(decodeBase64Url(transaction, 'transaction'))))
    if (hash !== key || typeof cmd !== 'string') return null
    const { code } = fieldsOf(fieldsOf(fieldsOf(parseExactJson(cmd)).payload).exec)
    return typeof code === 'string' ? code : null
  })
}
