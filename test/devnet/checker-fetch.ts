/** Fetches the headers of a node for the checker, page by page and in both encodings. */
import type { Fetched, HeaderObject, Violation } from './checker.ts'
import type { Peer } from './request.ts'

interface Page<T> {
  readonly limit: number
  readonly items: readonly T[]
  readonly next: string | null
}

interface Info {
  readonly nodeVersion: string
  readonly nodeChains: readonly string[]
  readonly nodeBlockDelay: number
  readonly nodeGraphHistory: readonly [number, readonly [number, readonly number[]][]][]
}

const OBJECTS = 'application/json;blockheader-encoding=object'
const PLAIN = 'application/json'

/** Fetches all data that the checker examines. The chains must not grow meanwhile. */
export async function fetchChains(
  peer: Peer,
  product: string,
  [objectLimit, plainLimit]: readonly [number, number],
): Promise<Fetched> {
  const info: Info = await getJson(peer, '/info')
  const prefix = `/${product}/0.0/${info.nodeVersion}`
  const newest = info.nodeGraphHistory.reduce((a, b) => (a[0] >= b[0] ? a : b))
  const pagingViolations: Violation[] = []
  const chains = new Map<number, { object: HeaderObject; plain: string }[]>()
  for (const chain of info.nodeChains.map(Number)) {
    const fail = (message: string) => pagingViolations.push({ chain, height: -1, rule: 'paging', message })
    const path = `${prefix}/chain/${chain}/header`
    const hashOfPlain = (item: string) => Buffer.from(item, 'base64url').subarray(-32).toString('base64url')
    const objects = await walk<HeaderObject>(peer, path, OBJECTS, objectLimit, ({ hash }) => hash, fail)
    const plain = await walk<string>(peer, path, PLAIN, plainLimit, hashOfPlain, fail)
    if (objects.length !== plain.length) fail(`${objects.length} objects, ${plain.length} plain headers`)
    objects.slice(1).forEach(({ height, hash }, i) => {
      const before = objects[i]
      const isAfter = before.height < height || (before.height === height && bytesBefore(before.hash, hash))
      if (!isAfter) fail(`${hash} is out of order`)
    })
    const blocks = objects.map((object, i) => ({ object, plain: plain[i] ?? '' }))
    chains.set(chain, blocks)
  }
  return {
    product,
    graph: new Map(newest[1]),
    blockDelay: BigInt(info.nodeBlockDelay),
    chains,
    cut: await getJson(peer, `${prefix}/cut`),
    pagingViolations,
  }
}

function bytesBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a, 'base64url'), Buffer.from(b, 'base64url')) < 0
}

async function getJson<T>(peer: Peer, path: string, accept = 'application/json'): Promise<T> {
  const { status, body } = await peer.get(path, { headers: { accept } })
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
  return JSON.parse(body.toString())
}

/** All items of a chain, read by following cursors to the end. Calls `fail` for inconsistent pages. */
async function walk<T>(
  peer: Peer,
  path: string,
  accept: string,
  limit: number,
  hashOf: (item: T) => string,
  fail: (message: string) => void,
): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  for (;;) {
    const query: string = cursor === null ? '' : `&next=${cursor}`
    const page: Page<T> = await getJson(peer, `${path}?limit=${limit}${query}`, accept)
    if (page.limit !== page.items.length) fail(`a page of ${page.items.length} says ${page.limit}`)
    if (page.items.length > limit) fail(`${page.items.length} items in a page of at most ${limit}`)
    if (cursor?.startsWith('inclusive:') && page.items.length > 0 && hashOf(page.items[0]) !== cursor.slice(10)) {
      fail(`the page of ${cursor} begins with ${hashOf(page.items[0])}`)
    }
    items.push(...page.items)
    if (page.next?.startsWith('inclusive:') && page.items.length > 0) {
      cursor = page.next
      continue
    }
    if (page.items.length === 0) fail(`an empty page after ${cursor}`)
    else await checkEnd(peer, path, accept, page.next, hashOf(page.items[page.items.length - 1]), fail)
    return items
  }
}

/** The cursor of the last page must point past its last item, where nothing follows yet. */
async function checkEnd(
  peer: Peer,
  path: string,
  accept: string,
  next: string | null,
  lastHash: string,
  fail: (message: string) => void,
): Promise<void> {
  if (next !== `exclusive:${lastHash}`) fail(`the last page goes on with ${next}`)
  const rest: Page<unknown> = await getJson(peer, `${path}?next=exclusive:${lastHash}`, accept)
  if (rest.items.length > 0 || rest.next !== null) fail('there is something behind the last page')
}
