/** The connection to NATS, for leaders, rigs and `newcut fleet`. */
import { hostname } from 'node:os'
import { fileProblem, operatingError } from '#ground/base/errors.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { readNatsAddress } from '#mining/fleet/address.ts'
import { readCredentials } from '#mining/fleet/credentials.ts'
import type { LinkSetup } from '#mining/fleet/link.ts'
import { FLEET_NAME } from '#mining/fleet/messages.ts'
import { commandErrors } from './errors.ts'

export interface NatsValues {
  readonly 'fleet-name': string
  readonly 'nats-creds': string | undefined
  readonly 'nats-ca': string | undefined
  readonly 'nats-cert': string | undefined
  readonly 'nats-key': string | undefined
}

/** @throws NewcutError BAD_OPTION for addresses and files that cannot be read */
export function linkSetup(values: NatsValues, servers: readonly string[]): LinkSetup {
  const addresses = servers.map(readNatsAddress)
  const { 'nats-cert': cert, 'nats-key': key } = values
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? '--nats-cert' : '--nats-key'
    throw operatingError(commandErrors.missingTlsHalf, { flag: missing })
  }
  const creds = textOf('nats-creds', values)
  const trust = {
    authenticator: creds === undefined ? creds : readCredentials(creds, `--nats-creds ${values['nats-creds']}`),
    ca: textOf('nats-ca', values),
    cert: textOf('nats-cert', values),
    key: textOf('nats-key', values),
  }
  return { addresses, trust, fleet: values['fleet-name'] }
}

/** The host name up to its first dot, without characters that names of rigs cannot have. */
export function machineName(): string {
  const name = hostname()
    .split('.')[0]
    .replace(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 32)
  return FLEET_NAME.test(name) ? name : 'rig'
}

type FileOption = 'nats-creds' | 'nats-ca' | 'nats-cert' | 'nats-key'

function textOf(name: FileOption, values: NatsValues): string | undefined {
  const file = values[name]
  if (file === undefined) return undefined
  try {
    return readUserText(file)
  } catch (error) {
    throw operatingError(commandErrors.unreadableTlsFile, { name, file, why: fileProblem(error) }, error)
  }
}
