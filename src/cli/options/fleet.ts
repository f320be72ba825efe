/** Options of leaders, rigs and whoever asks about a fleet: how NATS is reached. */

import { fleetName, natsServers, oneOf, rigName, someText } from '../values.ts'
import { option, unset } from './row.ts'

const ofFleet = { group: 'fleet', needs: ['fleetRig'] } as const
const ofNatsTls = { group: 'fleet', needs: ['fleetRig', 'natsTls'] } as const

/** How a server of NATS is trusted, and which fleet is meant. */
export const natsOptions = {
  'fleet-name': option(fleetName, 'main', 'NAME', 'which fleet, where a NATS server has several', ofFleet),
  'nats-creds': unset(
    someText,
    'FILE',
    'credentials for the NATS server, as its tools write them, or the seed of a user alone (nkey)',
    ofFleet,
  ),
  'nats-ca': unset(
    someText,
    'FILE',
    "certificates in PEM form: only these authorities may sign the NATS server's",
    ofNatsTls,
  ),
  'nats-cert': unset(someText, 'FILE', 'certificate in PEM form that the NATS server is shown', ofNatsTls),
  'nats-key': unset(someText, 'FILE', 'key of that certificate in PEM form', ofNatsTls),
}

/** Options of `newcut mine` for a rig of a fleet. */
export const rigOptions = {
  fleet: unset(
    natsServers,
    'URL',
    'search for the leader of a fleet, which is at this NATS server (nats:// or tls://, may have USER:PASSWORD@); several for a cluster',
    // It may have a password.
    { group: 'fleet', isSecret: true },
  ),
  rig: unset(rigName, 'NAME', 'name of this machine in the fleet; the name that its system has if not given', ofFleet),
  ...natsOptions,
}

/** Where the leader of a fleet is, for itself and for those who ask. */
export const leaderServers = option(
  natsServers,
  ['nats://127.0.0.1:4222'],
  'URL',
  'NATS server with JetStream (nats:// or tls://, may have USER:PASSWORD@); several for a cluster',
  { group: 'fleet', isSecret: true },
)

/** How many servers of a cluster JetStream copies to: odd numbers, since most of them have to agree. */
export const replicas = unset(
  oneOf(['1', '3', '5'] as const),
  'N',
  'how many servers of a NATS cluster keep a copy of solutions and of who leads; as it is if not given, 1 for a new fleet',
  { group: 'fleet' },
)

/** Leaf nodes have a JetStream of their own, or none. */
export const domain = unset(
  fleetName,
  'NAME',
  'JetStream domain that keeps solutions and who leads, where servers of several domains are connected; that of the server if not given',
  { group: 'fleet' },
)
