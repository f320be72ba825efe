/** Types for the parts of the npm package `chainweb` that tests call; the package has no types. */
declare module 'chainweb' {
  type HeaderObject = import('./checker.ts').HeaderObject
  interface Peer {
    readonly id: string | null
    readonly address: { readonly hostname: string; readonly port: number }
  }
  interface Transaction {
    readonly transaction: unknown
    readonly output: unknown
    readonly height?: number
  }
  interface Payload {
    readonly payloadHash: string
    readonly minerData: unknown
    readonly transactions: readonly Transaction[]
  }
  interface Block {
    readonly header: HeaderObject
    readonly payload: Payload
  }
  interface Queries<One, Many> {
    readonly range: (chain: number, start: number, end: number, network: string, host: string) => Promise<Many[]>
    readonly recent: (chain: number, depth: number, count: number, network: string, host: string) => Promise<Many[]>
    readonly height: (chain: number, height: number, network: string, host: string) => Promise<One>
    readonly blockHash: (chain: number, hash: string, network: string, host: string) => Promise<One>
  }
  interface Stream<One> {
    readonly stream: (
      depth: number,
      chains: readonly number[],
      callback: (one: One) => void,
      network: string,
      host: string,
    ) => {
      readonly addEventListener: (name: string, listener: (event: unknown) => void) => void
      readonly close: () => void
    }
  }
  interface Cut {
    readonly height: number
    readonly hashes: Readonly<Record<string, { readonly height: number; readonly hash: string }>>
  }
  type BranchCall<Result> = (
    chain: number,
    upper: readonly string[],
    lower: readonly string[],
    minHeight: number | null,
    maxHeight: number | null,
    ...rest: unknown[]
  ) => Promise<Result>
  const chainweb: {
    readonly cut: {
      readonly current: (network: string, host: string) => Promise<Cut>
      readonly peers: (network: string, host: string) => Promise<Peer[]>
    }
    readonly header: Queries<HeaderObject, HeaderObject> & Stream<HeaderObject>
    readonly block: Queries<Block, Block> & Stream<Block>
    readonly transaction: Queries<Transaction[], Transaction> & Stream<Transaction>
    readonly event: Queries<unknown[], unknown> & Stream<{ readonly name: string; readonly height: number }>
    readonly internal: {
      readonly branch: BranchCall<HeaderObject[]>
      readonly branchPage: BranchCall<{ limit: number; items: HeaderObject[]; next: string | null }>
      readonly payloads: (chain: number, hashes: readonly string[], ...rest: unknown[]) => Promise<Payload[]>
    }
  }
  // biome-ignore lint/style/noDefaultExport: the package is CommonJS; all of it is the default export.
  export default chainweb
}
