/** Options that name a fleet and its NATS server: of leaders, of rigs, and of commands that ask about a fleet. */

import { fleetName, natsServers, oneOf, rigName, someText } from '../values.ts'
import { option, optional } from './row.ts'

const ofFleet = { group: 'fleet', needs: ['fleetRig'] } as const
const ofNatsTls = { group: 'fleet', needs: ['fleetRig', 'natsTls'] } as const

/** The name of a fleet, and the credentials and certificates for its NATS server. */
export const natsOptions = {
  'fleet-name': option(fleetName, 'main', 'NAME', 'fleet on that NATS server', {
    ...ofFleet,
    more: 'A NATS server can have several fleets.',
  }),
  'nats-creds': optional(someText, 'FILE', 'NATS credentials', {
    ...ofFleet,
    more: 'A file as the tools of NATS write it, or the seed of a user alone (nkey).',
  }),
  'nats-ca': optional(someText, 'FILE', 'CA certificates to trust for NATS (PEM)', {
    ...ofNatsTls,
    more: 'Only these authorities may sign the certificate of the NATS server.',
  }),
  'nats-cert': optional(someText, 'FILE', 'client certificate for NATS (PEM)', ofNatsTls),
  'nats-key': optional(someText, 'FILE', 'key of the client certificate (PEM)', ofNatsTls),
}

const natsAddresses =
  'The address is nats:// or tls://, and may have USER:PASSWORD@. Repeat the option for the servers of a cluster.'

/** Options of `newcut mine` for a rig of a fleet. */
export const rigOptions = {
  fleet: optional(natsServers, 'URL', 'NATS server of the fleet to mine for', {
    group: 'fleet',
    more: `The leader of the fleet gives the work. ${natsAddresses}`,
    // It may have a password.
    isSecret: true,
  }),
  rig: optional(rigName, 'NAME', 'name of this rig', { ...ofFleet, defaultText: 'host name' }),
  ...natsOptions,
}

/** The NATS server of a fleet, for its leader and for commands that ask about it. */
export const leaderServers = option(natsServers, ['nats://127.0.0.1:4222'], 'URL', 'NATS server', {
  group: 'fleet',
  more: `It needs JetStream. ${natsAddresses}`,
  isSecret: true,
})

/** The servers of a cluster that hold a copy. The number is odd, because a majority must agree. */
export const replicas = optional(oneOf(['1', '3', '5'] as const), 'N', 'copies in a NATS cluster: 1, 3 or 5', {
  group: 'fleet',
  more: 'So many servers hold the solutions and the lease of the leader. If not set, a fleet keeps its number; a new one has 1.',
})

/** Leaf nodes have a JetStream of their own, or none. */
export const domain = optional(fleetName, 'NAME', 'JetStream domain of the fleet', {
  group: 'fleet',
  more: 'It holds the solutions and the lease of the leader, where servers of several domains are connected.',
  defaultText: 'domain of the server',
})
