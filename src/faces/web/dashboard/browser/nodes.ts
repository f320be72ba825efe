/** Shows the nodes in order of priority, or the source itself if there is only one. */
import type { UpstreamStatus } from '#mining/source/source.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { groupDigits, spanText } from '../../kit/numbers.ts'
import type { Snapshot } from '../state.ts'

interface Row {
  readonly name: string
  readonly state: 'active' | 'ready' | 'troubled' | 'down'
  readonly text: string
}

export class NodeList {
  show({ nodes, source, connected, work }: Pick<Snapshot, 'nodes' | 'source' | 'connected' | 'work'>): void {
    const text = connected ? 'update stream open' : work === null ? 'gives no work' : 'update stream closed'
    const only: Row = { name: source, state: connected ? 'active' : 'troubled', text }
    const rows = nodes.length === 0 ? [only] : nodes.map(rowOf)
    fill(
      element('nodes'),
      rows,
      ({ name }) => name,
      () => make('li', {}, make('b'), make('span'), make('small')),
      (item, { name, state, text }) => {
        item.dataset.state = state
        write(item.children[0], name)
        write(item.children[1], state === 'active' && nodes.length > 0 ? 'gives work' : state)
        write(item.children[2], text)
      },
    )
  }
}

function rowOf(node: UpstreamStatus): Row {
  const { url, lag, latencyMs, height, version, problem } = node
  const facts = [
    problem ?? '',
    latencyMs === null ? '' : `answers in ${spanText(latencyMs)}`,
    lag === null ? '' : lagText(lag),
    height === null ? '' : `height ${groupDigits(height)}`,
    version === null ? '' : `version ${version}`,
  ]
  return { name: url, state: stateOf(node), text: facts.filter((fact) => fact !== '').join(' · ') }
}

const lagText = (lag: number) => (lag < 0.05 ? 'in sync' : `${lag.toFixed(1)} blocks behind`)

function stateOf({ up, active, problem }: UpstreamStatus): Row['state'] {
  if (!up) return 'down'
  if (active) return 'active'
  return problem === null ? 'ready' : 'troubled'
}
