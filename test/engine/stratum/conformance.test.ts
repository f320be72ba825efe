/** Rigs against the contract of engines: a server with two rigs that search over real sockets. */
import { describe } from 'vitest'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import type { EngineEvents } from '../../../src/mining/engine/engine.ts'
import { StratumEngine } from '../../../src/mining/engine/stratum/stratum.ts'
import { engineConformance } from '../../conformance/engine.ts'
import { Rig } from '../../support/stratum-rig.ts'

/** A server that starts its own rigs. */
class EngineWithRigs extends StratumEngine {
  readonly #rigs: Rig[] = []

  constructor() {
    super({ host: '127.0.0.1', port: 0, tls: null, difficulty: 500, clock: systemClock, random: Math.random })
  }

  override async start(workBytes: number, events: EngineEvents): Promise<void> {
    await super.start(workBytes, events)
    const { port } = await this.listen()
    for (const name of ['left', 'right']) {
      const rig = await Rig.login(port, `k:abc.${name}`)
      this.#rigs.push(rig)
      rig.mine()
    }
  }

  override async stop(): Promise<void> {
    for (const rig of this.#rigs) rig.close()
    await super.stop()
  }
}

describe('rigs that speak stratum', () => {
  engineConformance({
    create: () => new EngineWithRigs(),
    unsearchable: { bits: 8, warning: /rigs cannot search work in which a pool fixes a part of the nonce/ },
    keepsFixedBits: false,
    difficulty: 5000n,
  })
})
