/** The API page: try the node's endpoints, generated from /openapi.json. */
import type { NodeView } from '#ground/schema/view.ts'
import { element, make, write } from '../../kit/dom.ts'
import type { OpenApi, OpenApiOperation } from './api-example.ts'
import { operationRow } from './api-operation.ts'
import { callNode } from './call.ts'
import { HEADS_ONLY, pathWith } from './query.ts'
import { openSearchField, suggestNames } from './search-field.ts'

/** Groups in display order, with their titles. */
const GROUPS: Readonly<Record<string, string>> = {
  devnet: 'Control of this network',
  node: 'Node',
  command: 'Commands',
  chain: 'Chains',
  payload: 'Payloads',
  cut: 'Cut',
  mempool: 'Mempool',
  mining: 'Mining',
  stream: 'Streams',
}

interface SearchResult {
  readonly row: HTMLElement
  readonly text: string
}

async function start(): Promise<void> {
  const [description, view] = await Promise.all([
    callNode('GET', '/openapi.json'),
    callNode('GET', pathWith('/devnet/view', HEADS_ONLY)),
  ])
  const { info, paths, components } = JSON.parse(description.text) as OpenApi
  const { heads, accounts } = JSON.parse(view.text) as NodeView
  suggestNames(accounts)
  const known = { chain: '0', hash: heads[0].hash }
  const groups = new Map<string, HTMLElement[]>(Object.keys(GROUPS).map((name) => [name, []]))
  const all: SearchResult[] = []
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const shown = { method: method.toUpperCase(), path, operation, named: components.schemas, known }
      const row = operationRow(shown)
      all.push({ row, text: textOf(path, operation) })
      groups.get(operation.tags[0])?.push(row)
    }
  }
  const sections = [...groups].map(([name, rows]) => make('section', {}, make('h2', {}, GROUPS[name]), ...rows))
  element('operations').replaceChildren(...sections)
  write('about', `${all.length} operations · newcut ${info.version}`)
  const filter = element<HTMLInputElement>('filter')
  filter.addEventListener('input', () => narrow(all, sections, filter.value))
  openNamed()
  addEventListener('hashchange', openNamed)
}

const textOf = (path: string, { operationId, summary }: OpenApiOperation) =>
  `${path} ${operationId} ${summary}`.toLowerCase()

function narrow(all: readonly SearchResult[], sections: readonly HTMLElement[], wanted: string): void {
  const words = wanted.toLowerCase().split(/\s+/)
  for (const { row, text } of all) row.hidden = !words.every((word) => text.includes(word))
  for (const section of sections) {
    section.hidden = [...section.querySelectorAll<HTMLElement>('.operation')].every(({ hidden }) => hidden)
  }
}

/** Opens the operation in the URL, as in /explorer/api#cut. */
function openNamed(): void {
  const named = document.getElementById(location.hash.slice(1))
  if (!(named instanceof HTMLDetailsElement)) return
  named.open = true
  named.scrollIntoView()
}

openSearchField()
start().catch(() => write('about', 'the node does not answer; reload the page'))
