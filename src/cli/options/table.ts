/**
 * The option tables of all commands. Flag, environment variable (NEWCUT_ and the name in capitals) and configuration key
 * are derived from the name of an option.
 */
import { blocksOptions } from './blocks.ts'
import { devnetOptions } from './devnet.ts'
import { fleetOptions, leadOptions } from './lead.ts'
import { mineOptions } from './mine.ts'
import { payoutsOptions } from './payouts.ts'
import { solveOptions } from './search.ts'
import { balanceOptions, localOptions, resultOptions, sendOptions, transferOptions } from './wallet.ts'

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
]
