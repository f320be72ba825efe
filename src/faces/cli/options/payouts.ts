/** Options of `newcut payouts`. */
import {
  type HostPort,
  listenAddress,
  natsServers,
  oneOf,
  someText,
  type ValueKind,
  wholeNumber,
  yesNo,
} from '../values.ts'
import { domain, natsOptions } from './fleet.ts'
import { mineOptions } from './mine.ts'
import { nodeOptions } from './node.ts'
import { flagOnly, option, optional } from './row.ts'
import { gasOptions, keyOption } from './wallet.ts'

/** A decimal number, kept as text: a double would not be exact. */
function decimalText(expected: string, isIn: (value: number) => boolean): ValueKind<string> {
  return {
    expected,
    parse: (raw) => {
      const text = typeof raw === 'number' ? String(raw) : raw
      if (typeof text !== 'string' || !/^\d{1,12}(\.\d{1,12})?$/.test(text)) return undefined
      return isIn(Number(text)) ? text : undefined
    },
    format: (value) => value,
  }
}

/** The HTTP address of a running miner. */
const minerAddress: ValueKind<HostPort> = {
  expected: 'HOST:PORT, such as 127.0.0.1:4148',
  parse: (raw) => (raw === 'off' ? undefined : (listenAddress.parse(raw) ?? undefined)),
  format: (value) => listenAddress.format(value),
}

const ofFleet = { needs: ['fleetRig'] } as const
const ofPaying = { needs: ['paying'] } as const

export const payoutsOptions = {
  ...nodeOptions,
  'network-file': { ...mineOptions['network-file'], needs: [] },
  // The leader of a fleet does not give it here.
  'public-key': {
    ...mineOptions['public-key'],
    help: 'public key of the pool account, or k:KEY',
    more: 'Repeat the option for an account with several keys.',
    needs: [],
  },
  account: { ...mineOptions.account, help: 'account of the pool', needs: [] },
  state: optional(someText, 'DIR', 'folder of the share log and of the payouts journal', {
    group: 'shares',
    more: 'If not set, it is the state folder of the user.',
  }),
  from: flagOnly(
    optional(minerAddress, 'HOST:PORT', 'read the shares from the running miner there', {
      group: 'shares',
      needs: ['noFleetShares'],
      more: 'It is the HTTP address of the miner.',
    }),
  ),
  'http-token': {
    ...mineOptions['http-token'],
    group: 'shares' as const,
    needs: ['fromMiner'] as const,
    help: 'HTTP token of the miner of --from',
    more: 'A miner without a token needs none.',
  },
  fleet: flagOnly(
    optional(natsServers, 'URL', 'read the shares from the NATS server of a fleet', {
      group: 'fleet',
      more: 'They are the shares of all its relays. The address is nats:// or tls://, and may have USER:PASSWORD@. Repeat the option for the servers of a cluster.',
      isSecret: true,
    }),
  ),
  ...natsOptions,
  'nats-domain': { ...domain, ...ofFleet },
  scheme: option(oneOf(['pplns', 'prop', 'solo'] as const), 'pplns', 'NAME', 'pplns, prop or solo', {
    group: 'division',
    more: 'pplns pays the newest shares, prop the shares since the last block, and solo the finder.',
  }),
  window: option(
    decimalText('a number of blocks from 0.01 to 1000, such as 2.0', (blocks) => blocks >= 0.01 && blocks <= 1000),
    '2.0',
    'BLOCKS',
    'length of the pplns window in blocks',
    {
      group: 'division',
      needs: ['pplns'],
      more: 'pplns pays the newest shares that are worth this many blocks together.',
    },
  ),
  fee: option(
    decimalText('a number from 0 to 100, such as 1.5', (percent) => percent <= 100),
    '0',
    'PERCENT',
    'percentage that the operator keeps',
    { group: 'division' },
  ),
  minimum: option(
    decimalText('a number of coins, such as 0.5', () => true),
    '0',
    'COINS',
    'smallest payment on a chain',
    { group: 'division', more: 'Accounts with less are paid later.' },
  ),
  confirmations: option(wholeNumber(1, 1000), 6, 'N', 'depth at which blocks and payments count', {
    group: 'division',
    more: 'A block counts once it is the Nth from the head of its chain. The same rule settles payments.',
  }),
  pay: flagOnly(option(yesNo, false, null, 'pay what is due, and wait until it is settled', { group: 'output' })),
  key: { ...keyOption, help: 'key of the pool account: a file of newcut keygen', ...ofPaying },
  'gas-limit': option(wholeNumber(1000, 1e9), 50_000, 'N', 'maximum gas of one command', {
    group: 'gas',
    ...ofPaying,
  }),
  'gas-price': { ...gasOptions['gas-price'], ...ofPaying },
  ttl: { ...gasOptions.ttl, ...ofPaying },
  json: flagOnly(option(yesNo, false, null, 'print JSON', { group: 'output' })),
}

/** The options that `newcut payouts --help` shows. */
export const commonPayoutsOptions = [
  'public-key',
  'account',
  'node',
  'state',
  'from',
  'http-token',
  'fleet',
  'fleet-name',
  'nats-creds',
  'scheme',
  'window',
  'fee',
  'minimum',
  'confirmations',
  'pay',
  'key',
  'json',
] as const satisfies readonly (keyof typeof payoutsOptions)[]
