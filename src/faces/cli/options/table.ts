/**
 * The option tables of all commands. Flag, environment variable (NEWCUT_ and the name in capitals) and configuration key
 * are derived from the name of an option.
 */
import { blocksOptions } from './blocks.ts'
import { conformanceOptions, rigsCheckOptions } from './conformance.ts'
import { devnetOptions } from './devnet.ts'
import { dapOptions, forkCommandOptions, lspOptions } from './fork.ts'
import { fleetOptions, leadOptions } from './lead.ts'
import { mineOptions } from './mine.ts'
import { payoutsOptions } from './payouts.ts'
import { solveOptions } from './search.ts'
import { testOptions } from './test.ts'
import { benchOptions, devicesOptions, formatOptions, inspectOptions, keygenOptions, rigsOptions } from './tools.ts'
import {
  balanceOptions,
  controlOptions,
  debugOptions,
  fundOptions,
  localOptions,
  resultOptions,
  sendOptions,
  signOptions,
  traceOptions,
  transferOptions,
  typesOptions,
} from './wallet.ts'

export const optionTables: readonly Readonly<Record<string, unknown>>[] = [
  mineOptions,
  leadOptions,
  fleetOptions,
  devnetOptions,
  solveOptions,
  localOptions,
  blocksOptions,
  payoutsOptions,
  balanceOptions,
  sendOptions,
  transferOptions,
  resultOptions,
  fundOptions,
  ...Object.values(controlOptions),
  signOptions,
  traceOptions,
  debugOptions,
  typesOptions,
  testOptions,
  forkCommandOptions,
  lspOptions,
  dapOptions,
  conformanceOptions,
  rigsCheckOptions,
  benchOptions,
  devicesOptions,
  formatOptions,
  inspectOptions,
  keygenOptions,
  rigsOptions,
]
