/** `GET /devnet/state`: the whole network in one file. */
import { controlOperations } from '#ground/schema/control.ts'
import { BINARY } from '#ground/schema/operation.ts'
import { type SavedNetwork, stateStream } from '../../data/state-file.ts'
import type { Router } from '../router.ts'

export function addStateRoute(router: Router, network: () => SavedNetwork): void {
  router.serve(controlOperations.state, (_call, reply) =>
    reply
      .type(BINARY)
      .header('content-disposition', 'attachment; filename="newcut-state.gz"')
      .send(stateStream(network())),
  )
}
