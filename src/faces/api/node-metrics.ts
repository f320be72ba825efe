/** Metrics of several nodes. */

import type { Snapshot } from '#mining/mine/snapshot.ts'
import { Gauge, type Registry } from './prom-client.ts'

export class NodeMetrics {
  readonly #up: Gauge<'node'>
  readonly #active: Gauge<'node'>
  readonly #lag: Gauge<'node'>
  readonly #latency: Gauge<'node'>

  constructor(registry: Registry) {
    const gauge = (name: string, help: string) =>
      new Gauge({ name, help, labelNames: ['node'] as const, registers: [registry] })
    this.#up = gauge('newcut_node_up', '1 while the node answers. Only with several nodes.')
    this.#active = gauge('newcut_node_active', '1 while the current work comes from the node. Only with several nodes.')
    this.#lag = gauge(
      'newcut_node_lag_blocks',
      'Blocks that the node lacks and others have, averaged over its chains. Only with several nodes; absent while it does not answer.',
    )
    this.#latency = gauge(
      'newcut_node_latency_seconds',
      'Time to the latest answer of the node. Only with several nodes; absent while it does not answer.',
    )
  }

  /** Shows the nodes. Their list is fixed for a run. */
  show(nodes: Snapshot['nodes']): void {
    for (const { url: node, up, active, lag, latencyMs } of nodes) {
      this.#up.set({ node }, up ? 1 : 0)
      this.#active.set({ node }, active ? 1 : 0)
      if (lag === null) this.#lag.remove({ node })
      else this.#lag.set({ node }, lag)
      if (latencyMs === null) this.#latency.remove({ node })
      else this.#latency.set({ node }, latencyMs / 1000)
    }
  }
}
