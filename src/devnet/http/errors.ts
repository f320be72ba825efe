/** Errors of the port, and of the forked node whose answers the interface passes on. */
import { errorRows } from '#ground/base/errors.ts'

export const httpErrors = errorRows({
  portBusy: {
    code: 'PORT_BUSY',
    text: 'cannot listen on {host}:{port}: {why}',
    hint: 'choose another `port` (0 takes any free one) or stop what listens there',
  },
  portForbidden: {
    code: 'PORT_BUSY',
    text: 'may not listen on {host}:{port}: {why}',
    hint: 'listen on an address of this machine, and on a port that you may use',
  },
  unreadablePayload: {
    code: 'NODE_MISBEHAVED',
    text: 'the forked node {url} gives no payload {hash}: {answer}',
    hint: 'fork from another node of the network',
  },
})
