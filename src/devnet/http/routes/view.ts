/**
 * /devnet/view and /devnet/live: data of the page for developers. Everybody may read it, except for the private parts.
 */
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { viewOperations } from '#ground/schema/view.ts'
import { sendJson } from '../app.ts'
import type { Router } from '../router.ts'
import { noMoreStreams } from '../stream/broadcast.ts'
import { foreignRefusal } from '../this-machine.ts'
import { LiveView, type LiveViewOptions } from '../view/live-view.ts'
import { RequestLog } from '../view/request-log.ts'

interface ViewRouteOptions extends Omit<LiveViewOptions, 'requests'> {
  readonly nowMs: () => number
}

export function addViewRoutes(router: Router, { nowMs, ...options }: ViewRouteOptions): void {
  const view = new LiveView({ ...options, requests: new RequestLog(router.app, nowMs) })
  router.app.addHook('onClose', async () => view.stop())
  router.serve(viewOperations.devnetView, ({ request, query }, reply) =>
    sendJson(reply, JSON_TYPE, JSON.stringify(view.viewFor(foreignRefusal(request) === null, query))),
  )
  router.serve(viewOperations.devnetLive, ({ request, query }, reply) => {
    if (view.isFull) return noMoreStreams(reply)
    view.open(reply, foreignRefusal(request) === null, query)
    return reply
  })
}
