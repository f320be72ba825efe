/** Every command. Each is loaded only when it runs, so that `inspect` need not wait for servers and threads to load. */
import { type Commands, runProgram, type Surroundings } from '../cli/program.ts'

function commandsFor(around: Surroundings): Commands {
  return {
    mine: async (config) => (await import('./mine.ts')).runMine(config, around),
    lead: async (config) => (await import('./lead.ts')).runLead(config, around),
    fleet: async (args, config) => (await import('./fleet.ts')).runFleet(args, config, around),
    devnet: async (config) => (await import('./devnet.ts')).runDevnet(config, around),
    blocks: async (config) => (await import('./blocks.ts')).runBlocks(config, around),
    solve: async (target, { values }) => (await import('./solve.ts')).runSolve({ target, ...values }, around),
    config: async (config) => (await import('./config.ts')).runConfig(config, around),
    local: async (code, config) => (await import('./local.ts')).runLocal(code, config, around),
    balance: async (account, config) => (await import('./balance.ts')).runBalance(account, config, around),
    send: async (code, config) => (await import('./send.ts')).runSend(code, config, around),
    transfer: async (args, config) => (await import('./transfer.ts')).runTransfer(args, config, around),
    result: async (key, config) => (await import('./result.ts')).runResult(key, config, around),
    inspect: async (input) => (await import('./inspect.ts')).runInspect(input, around),
    contract: async (options) => (await import('./contract.ts')).runContract(options, around),
    keygen: async (options) => (await import('./keygen.ts')).runKeygen(options, around),
    devices: async (options) => (await import('./devices.ts')).runDevices(options, around),
    bench: async (options) => (await import('./bench.ts')).runBench(options, around),
  }
}

/** Runs a command line, without node and script, in these surroundings. Resolves with the exit code. */
export function newcut(args: readonly string[], surroundings: Surroundings): Promise<number> {
  return runProgram(args, surroundings, commandsFor(surroundings))
}
