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
import { flagOnly, option, unset } from './row.ts'
import { gasOptions, keyOption, nodeOptions } from './wallet.ts'

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

/** Where something listens. */
const minerAddress: ValueKind<HostPort> = {
  expected: 'HOST:PORT, such as 127.0.0.1:4148',
  parse: (raw) => (raw === 'off' ? undefined : (listenAddress.parse(raw) ?? undefined)),
  format: (value) => listenAddress.format(value),
}

const ofFleet = { needs: ['fleetRig'] } as const
const ofPaying = { needs: ['paying'] } as const

export const payoutsOptions = {
  ...nodeOptions,
  // The leader of a fleet does not say it here.
  'public-key': {
    ...mineOptions['public-key'],
    help: "public key of the pool's account, or the account k:KEY; may be repeated",
    needs: [],
  },
  account: {
    ...mineOptions.account,
    help: 'account of the pool, which its blocks pay; k:KEY of the public key if not given',
    needs: [],
  },
  state: unset(
    someText,
    'DIR',
    'folder with the share log of the miner and the journal of payouts; the usual one of the user if not given',
  ),
  from: flagOnly(
    unset(minerAddress, 'HOST:PORT', 'read the shares from the running miner that serves HTTP at this address'),
  ),
  'http-token': { ...mineOptions['http-token'], help: 'token of the miner of --from, if it has one' },
  fleet: flagOnly(
    unset(
      natsServers,
      'URL',
      'read the shares of all relays of a fleet, from its NATS server (nats:// or tls://, may have USER:PASSWORD@); several for a cluster',
      { group: 'fleet', isSecret: true },
    ),
  ),
  ...natsOptions,
  'nats-domain': { ...domain, ...ofFleet },
  scheme: option(
    oneOf(['pplns', 'prop', 'solo'] as const),
    'pplns',
    'NAME',
    'how rewards are divided: pplns (newest shares), prop (shares since the last block) or solo (the finder)',
  ),
  window: option(
    decimalText('a number of blocks from 0.01 to 1000, such as 2.0', (blocks) => blocks >= 0.01 && blocks <= 1000),
    '2.0',
    'BLOCKS',
    'pplns: the newest shares are paid until they are worth so many blocks',
  ),
  fee: option(
    decimalText('a number from 0 to 100, such as 1.5', (percent) => percent <= 100),
    '0',
    'PERCENT',
    'per cent of each reward that the operator keeps',
  ),
  minimum: option(
    decimalText('a number of coins, such as 0.5', () => true),
    '0',
    'COINS',
    'an account with less on a chain is paid later',
  ),
  confirmations: option(
    wholeNumber(1, 1000),
    6,
    'N',
    'a block counts once it is the Nth from the head of its chain; payments are settled by the same rule',
  ),
  pay: flagOnly(option(yesNo, false, null, 'pay what is due, and wait until it is settled')),
  key: { ...keyOption, help: `${keyOption.help}; it guards the account of the pool`, ...ofPaying },
  'gas-limit': option(wholeNumber(1000, 1e9), 50_000, 'N', 'most units of gas of one command', ofPaying),
  'gas-price': { ...gasOptions['gas-price'], ...ofPaying },
  ttl: { ...gasOptions.ttl, ...ofPaying },
  json: flagOnly(option(yesNo, false, null, 'as JSON')),
}
