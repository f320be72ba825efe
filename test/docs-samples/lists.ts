/** Blocks that the test does not run, each with its reason. All of them are parsed. */

/** Documents whose `sh` blocks and programs are run too, besides the `console` blocks of every document. */
export const GUIDES: readonly string[] = [
  'docs/DEVNET.md',
  'docs/DEVNET-CONTROL.md',
  'docs/CONTRACTS.md',
  'docs/NODE-INTERFACE.md',
  'docs/CONFORMANCE.md',
  'examples/exchange/README.md',
]

/** A block by its document and its first line. */
export interface NotRun {
  readonly document: string
  readonly first: string
  readonly reason: string
}

const LUCK = 'its lines depend on the machine and on luck'
const FLEET = 'it needs a NATS server, a leader and rigs beside it; test/fleet/ runs the commands'

export const notRun: readonly NotRun[] = [
  { document: 'CONTRIBUTING.md', first: '$ npm test -- test/chain', reason: 'a test does not run the tests' },
  { document: 'README.md', first: '$ npm start -- --blocks 5', reason: 'test/readme.test.ts runs it' },
  {
    document: 'docs/CONFORMANCE.md',
    first: 'newcut conformance --serve',
    reason: 'it waits for a client; test/conformance/own-clients.test.ts runs it',
  },
  { document: 'docs/CONTRACTS.md', first: 'newcut test counter.repl', reason: 'the reader makes the files below' },
  { document: 'docs/CONSOLE.md', first: '$ newcut mine --blocks 5', reason: LUCK },
  {
    document: 'docs/DEVNET-CONTROL.md',
    first: 'newcut mine --node http://127.0.0.1:1848 --pace constant:2s',
    reason: 'it mines until it is stopped; test/compose/paced.test.ts runs it',
  },
  { document: 'docs/FLEETS.md', first: '$ newcut fleet', reason: FLEET },
  { document: 'docs/GPUS.md', first: '$ newcut devices', reason: 'it lists the GPUs and kernels of the machine' },
  {
    document: 'docs/MONITORING.md',
    first: '$ curl -s http://127.0.0.1:4148/healthz',
    reason: 'it asks a miner that runs',
  },
  { document: 'docs/POOLS.md', first: '$ newcut mine --pool', reason: LUCK },
  {
    document: 'docs/RIGS.md',
    first: '$ newcut rigs',
    reason: 'it needs a server with rigs; test/cli/rigs.test.ts runs it',
  },
]
