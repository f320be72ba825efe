/** Types of the parts of the npm package `pact-lang-api` that tests call; the package has none. */
declare module 'pact-lang-api' {
  interface Meta {
    readonly creationTime: number
    readonly ttl: number
    readonly gasLimit: number
    readonly chainId: string
    readonly gasPrice: number
    readonly sender: string
  }
  interface KeyPair {
    readonly publicKey: string
    readonly secretKey: string
    readonly clist?: readonly { readonly name: string; readonly args: readonly unknown[] }[]
  }
  interface Command {
    readonly type?: 'exec' | 'cont'
    readonly keyPairs?: readonly KeyPair[]
    readonly networkId: string
    readonly meta: Meta
    readonly envData?: object
    readonly pactCode?: string
    readonly pactId?: string
    readonly step?: number
    readonly rollback?: boolean
    readonly proof?: string
  }
  interface Result {
    readonly gas: number
    readonly reqKey: string
    readonly result: { readonly status: string; readonly data?: unknown; readonly error?: { readonly message: string } }
    readonly continuation: { readonly pactId: string; readonly step: number } | null
    readonly metaData: { readonly blockHeight: number; readonly blockHash: string } | null
  }
  interface Pact {
    readonly lang: {
      readonly mkMeta: (
        ...meta: [sender: string, chainId: string, price: number, limit: number, creationTime: number, ttl: number]
      ) => Meta
      readonly mkExp: (name: string, ...args: readonly unknown[]) => string
    }
    readonly crypto: { readonly genKeyPair: () => KeyPair }
    /** Resolves with the text of the node if the node refuses the request. */
    readonly fetch: {
      readonly local: (command: Command, host: string) => Promise<Result | string>
      readonly send: (
        commands: Command | readonly Command[],
        host: string,
      ) => Promise<{ readonly requestKeys: readonly string[] } | string>
      readonly poll: (
        query: { readonly requestKeys: readonly string[] },
        host: string,
      ) => Promise<Readonly<Record<string, Result>> | string>
      readonly listen: (query: { readonly listen: string }, host: string) => Promise<Result | string>
      readonly spv: (
        query: { readonly requestKey: string; readonly targetChainId: string },
        host: string,
      ) => Promise<string>
    }
  }
  const pact: Pact
  // biome-ignore lint/style/noDefaultExport: the package is CommonJS; all of it is the default export.
  export default pact
}
