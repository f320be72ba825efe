/** The npm package `@kadena/client-utils`: operations of wallets, each in one call, against the embedded node. */
import { type ChainId, Pact } from '@kadena/client'
import { composePactCommand, execution, setNetworkId } from '@kadena/client/fp'
import { createPrincipal, deployContract, describeModule, listModules } from '@kadena/client-utils/built-in'
import {
  createAccount,
  details,
  discoverAccount,
  getBalance,
  rotate,
  safeTransfer,
  safeTransferCreate,
  transfer,
  transferAll,
  transferCommand,
  transferCreate,
  transferCrossChain,
} from '@kadena/client-utils/coin'
import { dirtyReadClient, estimateGas, setGlobalConfig, submitClient } from '@kadena/client-utils/core'
import { describe, expect, it } from 'vitest'
import { funded, type Keys, type Network, newAccount, partyOf, signing, withNetwork } from './network.ts'

const NETWORK = 'development'
const CHAIN = '0'
const sender = funded('sender00')
const other = funded('sender01')
// The client asks 20 chains.
const network = withNetwork(undefined, 'twenty')
/** A release in which signatures cost no gas, so an estimate without signatures is right. */
const older = withNetwork('2.32')

const keysetOf = (...keys: readonly Keys[]) => ({
  keys: keys.map(({ publicKey }) => publicKey),
  pred: 'keys-all' as const,
})

const config = (...keys: readonly Keys[]) => configOn(network, ...keys)

const configOn = ({ host }: Network, ...keys: readonly Keys[]) => ({
  host,
  defaults: { networkId: NETWORK, meta: { chainId: CHAIN as ChainId } },
  sign: signing(...keys),
})

const balanceOf = async (account: string, chain: ChainId = CHAIN, { host }: Network = network) =>
  Number(await getBalance(account, NETWORK, chain, host))

/** A new account with coins on chain 0. */
async function funding(amount: string, on: Network = network) {
  const fresh = newAccount()
  const receiver = { account: fresh.account, keyset: keysetOf(fresh) }
  const inputs = { sender: partyOf(sender), receiver, amount, chainId: CHAIN as ChainId }
  const done = transferCreate(inputs, configOn(on, sender)).execute()
  expect(await done).toBe('Write succeeded')
  return fresh
}

describe('accounts', () => {
  it('client-utils reads details and balance of an account', async () => {
    expect(await balanceOf('sender02')).toBe(funded('sender02').balance)
    expect(await details('sender02', NETWORK, '7', network.host)).toEqual({
      account: 'sender02',
      balance: funded('sender02').balance,
      guard: { pred: 'keys-all', keys: [funded('sender02').publicKey] },
    })
  })

  it('client-utils gets the error of the node for an unknown account', async () => {
    await expect(getBalance('nobody', NETWORK, CHAIN, network.host)).rejects.toMatchObject({
      message: 'No value found in table coin_coin-table for key: nobody',
    })
  })

  it('client-utils creates an account with createAccount', async () => {
    const fresh = newAccount()
    const inputs = { account: fresh.account, keyset: keysetOf(fresh), gasPayer: partyOf(sender), chainId: CHAIN }
    expect(await createAccount({ ...inputs, chainId: CHAIN }, config(sender)).execute()).toBe('Write succeeded')
    expect(await balanceOf(fresh.account)).toBe(0)
  })

  it('client-utils searches all chains with discoverAccount', async () => {
    const found = await discoverAccount('sender03', NETWORK, network.host).execute()
    expect(found).toHaveLength(20)
    for (const { result } of found) {
      expect(result?.details).toMatchObject({ account: 'sender03', balance: funded('sender03').balance })
      expect(result?.principal).toBe(`k:${funded('sender03').publicKey}`)
    }
  })

  it('client-utils changes the guard of an account with rotate', async () => {
    const account = `rotated-${Date.now()}`
    const [first, second] = [newAccount(), newAccount()]
    const inputs = { account, keyset: keysetOf(first), gasPayer: partyOf(sender), chainId: CHAIN as ChainId }
    await createAccount(inputs, config(sender)).execute()
    const change = {
      account: { account, publicKeys: [first.publicKey] },
      newguard: keysetOf(second),
      gasPayer: partyOf(sender),
      chainId: CHAIN as ChainId,
    }
    expect(await rotate(change, config(first, sender)).execute()).toBe('Write succeeded')
    const { guard } = (await details(account, NETWORK, CHAIN, network.host)) as { guard: { keys: string[] } }
    expect(guard.keys).toEqual([second.publicKey])
  })
})

describe('transfers', () => {
  it('client-utils moves coins with transfer', async () => {
    const before = await balanceOf('sender01')
    const inputs = {
      sender: partyOf(sender),
      receiver: 'sender01',
      amount: '10.123456789012',
      chainId: CHAIN as ChainId,
    }
    const steps: string[] = []
    const result = await transfer(inputs, config(sender))
      .on('sign', () => void steps.push('sign'))
      .on('preflight', ({ result: { status } }) => void steps.push(`preflight ${status}`))
      .on('submit', () => void steps.push('submit'))
      .on('listen', ({ result: { status } }) => void steps.push(`listen ${status}`))
      .execute()
    expect(result).toBe('Write succeeded')
    expect(steps).toEqual(['sign', 'preflight success', 'submit', 'listen success'])
    expect(await balanceOf('sender01')).toBeCloseTo(before + 10.123456789012, 6)
  })

  it('a transfer of more than the balance fails before anything is sent', async () => {
    const poor = await funding('1')
    const inputs = { sender: partyOf(poor), receiver: 'sender01', amount: '5', chainId: CHAIN as ChainId }
    const steps: string[] = []
    const run = transfer(inputs, config(poor)).on('submit', () => void steps.push('submit'))
    await expect(run.execute()).rejects.toMatchObject({ message: 'Insufficient funds' })
    expect(steps).toEqual([])
  })

  it('client-utils creates the receiver with transferCreate', async () => {
    const fresh = await funding('2.5')
    expect(await getBalance(fresh.account, NETWORK, CHAIN, network.host)).toBe('2.5')
  })

  it('client-utils moves coins with safeTransfer, which the receiver signs too', async () => {
    const receiver = await funding('1')
    const inputs = { sender: partyOf(sender), receiver: partyOf(receiver), amount: '3', chainId: CHAIN as ChainId }
    expect(await safeTransfer(inputs, config(sender, receiver)).execute()).toBe('Write succeeded')
    expect(await getBalance(receiver.account, NETWORK, CHAIN, network.host)).toBe('4')
  })

  it('client-utils creates the receiver with safeTransferCreate, which the receiver signs too', async () => {
    const fresh = newAccount()
    const receiver = { account: fresh.account, keyset: keysetOf(fresh) }
    const inputs = { sender: partyOf(sender), receiver, amount: '7', chainId: CHAIN as ChainId }
    expect(await safeTransferCreate(inputs, config(sender, fresh)).execute()).toBe('Write succeeded')
    expect(await balanceOf(fresh.account)).toBe(7)
  })

  it('client-utils leaves nothing in the account with transferAll', async () => {
    const poor = await funding('2', older)
    // The client requests a capability for the balance of the receiver, so the receiver must be the richer one.
    const receiver = { account: 'sender01', keyset: keysetOf(other) }
    const inputs = { sender: partyOf(poor), receiver, gasPayer: partyOf(sender), chainId: CHAIN as ChainId }
    // The client estimates gas with the global configuration only.
    setGlobalConfig({ host: older.host, defaults: { networkId: NETWORK }, sign: signing(poor, sender) })
    expect(await (await transferAll(inputs, configOn(older, poor, sender))).execute()).toBe('Write succeeded')
    expect(await balanceOf(poor.account, CHAIN, older)).toBe(0)
  })

  it('client-utils moves coins to another chain with transferCrossChain', async () => {
    const fresh = newAccount()
    const inputs = {
      sender: partyOf(sender),
      receiver: { account: fresh.account, keyset: keysetOf(fresh) },
      amount: '5.5',
      chainId: CHAIN as ChainId,
      targetChainId: '1' as ChainId,
      targetChainGasPayer: partyOf(other),
    }
    const steps: string[] = []
    const result = await transferCrossChain(inputs, config(sender, other))
      .on('spv-proof', () => void steps.push('proof'))
      .on('submit-continuation', () => void steps.push('continued'))
      .execute()
    expect(result).toBe('Write succeeded')
    expect(steps).toEqual(['proof', 'continued'])
    expect(await balanceOf(fresh.account, '1')).toBe(5.5)
  })
})

describe('gas', () => {
  it('client-utils estimates the gas of a command, and the usual price', async () => {
    const inputs = { sender: partyOf(sender), receiver: 'sender01', amount: '1', chainId: CHAIN as ChainId }
    const command = composePactCommand(transferCommand(inputs), setNetworkId(NETWORK))
    const estimated = await estimateGas(command, older.host)
    expect(estimated.gasPrice).toBe(1e-8)
    const takenOn = (on: Network, gasLimit: number) =>
      new Promise<{ gas: number }>((resolve, reject) => {
        const meta = { chainId: CHAIN as ChainId, ...estimated, gasLimit }
        submitClient({ ...configOn(on, sender), defaults: { networkId: NETWORK, meta } })(command)
          .on('listen', resolve)
          .execute()
          .catch(reject)
      })
    expect((await takenOn(older, estimated.gasLimit)).gas).toBe(estimated.gasLimit)
    // From 3.2 signatures cost gas: the client's estimate without them is too low by that.
    const { gasLimit } = await estimateGas(command, network.host)
    expect((await takenOn(network, gasLimit + 10)).gas).toBe(gasLimit + 2)
  })
})

describe('contracts', () => {
  it('client-utils lists modules, and describes one', async () => {
    const modules = await listModules(config())
    for (const name of ['coin', 'ns', 'fungible-v2', 'fungible-xchain-v1', 'gas-payer-v1']) {
      expect(modules).toContain(name)
    }
    const coin = await describeModule('coin', config())
    expect(coin).toMatchObject({ name: 'coin', hash: expect.stringMatching(/^[\w-]{43}$/) })
    expect(coin.interfaces.toSorted()).toEqual(['fungible-v2', 'fungible-xchain-v1'])
    expect(coin.code).toContain('(module coin GOVERNANCE')
  })

  it('client-utils computes a principal with createPrincipal', async () => {
    const one = await createPrincipal({ keyset: { keys: [sender.publicKey] } }, config())
    expect(one).toBe(`k:${sender.publicKey}`)
    const keys = [sender.publicKey, other.publicKey]
    const two = await createPrincipal({ keyset: { keys, pred: 'keys-any' } }, config())
    expect(two).toMatch(/^w:[\w-]{43}:keys-any$/)
  })

  it('client-utils creates the namespace of a principal', async () => {
    const code = `
      (let ((name (ns.create-principal-namespace (read-keyset 'admin))))
        (define-namespace name (read-keyset 'admin) (read-keyset 'admin))
        (namespace name)
        (define-keyset (format "{}.{}" [name 'admin]) (read-keyset 'admin))
        name)`
    const command = Pact.builder
      .execution(code)
      .addKeyset('admin', 'keys-all', other.publicKey)
      .addSigner(sender.publicKey, (withCapability) => [withCapability('coin.GAS')])
      .addSigner(other.publicKey)
      .setMeta({ chainId: CHAIN, senderAccount: 'sender00', gasLimit: 10_000 })
      .getCommand()
    const name = await submitClient(config(sender, other))(command).execute()
    expect(name).toMatch(/^n_[0-9a-f]{40}$/)
    const described = await dirtyReadClient<{ namespace: string }>(config())(
      execution(`(describe-namespace "${name}")`),
    ).execute()
    expect(described).toMatchObject({ 'namespace-name': name })
  })

  it('client-utils deploys a contract, and calls it', async () => {
    const module = `counter-${Date.now()}`
    const contractCode = `
      (namespace "free")
      (module ${module} GOVERNANCE
        (defcap GOVERNANCE () (enforce-guard (keyset-ref-guard "free.${module}-admin")))
        (defschema count value:integer)
        (deftable counts:{count})
        (defun add:integer (key:string by:integer)
          (with-default-read counts key { "value": 0 } { "value" := value }
            (write counts key { "value": (+ value by) })
            (+ value by)))
        (defun of:integer (key:string) (at "value" (read counts key))))
      (create-table counts)`
    const body = (gasLimit: number) => ({
      chainId: CHAIN as ChainId,
      networkId: NETWORK,
      signers: [sender.publicKey as never],
      meta: { gasLimit, chainId: CHAIN as ChainId, ttl: 600, senderAccount: 'sender00' },
    })
    const keysets = [{ name: 'admin', pred: 'keys-all', keys: [sender.publicKey] }]
    const code = contractCode.replace(
      '(namespace "free")',
      `(namespace "free") (define-keyset "free.${module}-admin" (read-keyset "admin"))`,
    )
    const deployed = deployContract(
      { contractCode: code, transactionBody: { ...body(50_000), keysets } },
      config(sender),
    )
    expect(await deployed.execute()).toBe('TableCreated')
    const call = (times: string) =>
      submitClient(config(sender))(
        Pact.builder
          .execution(times)
          .addSigner(sender.publicKey)
          .setMeta({ chainId: CHAIN, senderAccount: 'sender00' })
          .getCommand(),
      ).execute()
    expect(await call(`(free.${module}.add "a" 2)`)).toEqual({ int: 2 })
    expect(await call(`(free.${module}.add "a" 40)`)).toEqual({ int: 42 })
    const read = dirtyReadClient(config())(execution(`(free.${module}.of "a")`)).execute()
    expect(await read).toEqual({ int: 42 })
    expect(await listModules(config())).toContain(`free.${module}`)
  })

  it('a contract pays the gas of accounts without coins', async () => {
    const name = `station-${Date.now()}`
    const code = `
      (namespace "free")
      (module ${name} GOVERNANCE
        (defcap GOVERNANCE () (enforce false "closed"))
        (implements gas-payer-v1)
        (defcap PAY () true)
        (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)
          (enforce (= ["(free.${name}.greet)"] (read-msg "exec-code")) "it pays for greetings only")
          (compose-capability (PAY)))
        (defun create-gas-payer-guard:guard () (create-capability-guard (PAY)))
        (defconst ACCOUNT (create-principal (create-gas-payer-guard)))
        (defun greet () "hello"))
      ACCOUNT`
    const deploy = Pact.builder
      .execution(code)
      .addSigner(sender.publicKey)
      .setMeta({ chainId: CHAIN, senderAccount: 'sender00', gasLimit: 50_000 })
      .getCommand()
    const station = String(await submitClient(config(sender))(deploy).execute())
    const fund = Pact.builder
      .execution(`(coin.transfer-create "sender00" "${station}" (free.${name}.create-gas-payer-guard) 1.0)`)
      .addSigner(sender.publicKey, (withCapability) => [
        withCapability('coin.GAS'),
        withCapability('coin.TRANSFER', 'sender00', station, { decimal: '1.0' }),
      ])
      .setMeta({ chainId: CHAIN, senderAccount: 'sender00' })
      .getCommand()
    expect(await submitClient(config(sender))(fund).execute()).toBe('Write succeeded')
    const poor = newAccount()
    const greet = (called: string) =>
      Pact.builder
        .execution(called)
        .addSigner(poor.publicKey, (withCapability) => [
          withCapability(`free.${name}.GAS_PAYER`, 'anyone', { int: 1 }, { decimal: '1.0' }),
        ])
        .setMeta({ chainId: CHAIN, senderAccount: station })
        .getCommand()
    expect(await submitClient(config(poor))(greet(`(free.${name}.greet)`)).execute()).toBe('hello')
    expect(await balanceOf(station)).toBeLessThan(1)
    await expect(submitClient(config(poor))(greet('(+ 1 2)')).execute()).rejects.toMatchObject({
      message: expect.stringContaining('it pays for greetings only'),
    })
  })
})
