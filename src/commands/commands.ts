/** Every command. Each is loaded only when it runs, so that `inspect` need not wait for servers and threads to load. */
import type { Commands } from '../cli/program.ts'
import { surroundings } from './surroundings.ts'

const printLine = (line: string) => void surroundings.out.write(`${line}\n`)
const printWarning = (line: string) => void surroundings.err.write(`${line}\n`)

export const commands: Commands = {
  mine: async (config) => (await import('./mine.ts')).runMine(config),
  lead: async (config) => (await import('./lead.ts')).runLead(config),
  fleet: async (args, config) => (await import('./fleet.ts')).runFleet(args, config, printLine),
  devnet: async (config) => (await import('./devnet.ts')).runDevnet(config),
  blocks: async (config) => (await import('./blocks.ts')).runBlocks(config, printLine),
  solve: async (target, { values }) => (await import('./solve.ts')).runSolve({ target, ...values }),
  config: async (config) => (await import('./config.ts')).runConfig(config, printLine),
  local: async (code, config) => (await import('./local.ts')).runLocal(code, config, printLine),
  balance: async (account, config) => (await import('./balance.ts')).runBalance(account, config),
  send: async (code, config) => (await import('./send.ts')).runSend(code, config, printLine),
  transfer: async (args, config) => (await import('./transfer.ts')).runTransfer(args, config, printLine),
  result: async (key, config) => (await import('./result.ts')).runResult(key, config, printLine),
  inspect: async (input) => (await import('./inspect.ts')).runInspect(input),
  contract: async (options) => (await import('./contract.ts')).runContract(options, printLine),
  keygen: async (options) => (await import('./keygen.ts')).runKeygen(options, { print: printLine, warn: printWarning }),
  devices: async (options) => (await import('./devices.ts')).runDevices(options, printLine),
  bench: async (options) => (await import('./bench.ts')).runBench(options),
}
