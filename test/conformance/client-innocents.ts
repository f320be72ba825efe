/** Clients that do nothing wrong, but look as if they did. Programs of other people behave like this. */
import { type Asker, BASE, type ClientDefect, PACT } from './client-defects.ts'

interface Innocent extends Pick<ClientDefect, 'name' | 'client'> {
  /** Group and name of the rule or situation that concerns the client, and must not fail. */
  readonly meets: string
}

const send = ({ ask }: Asker, command: unknown) => ask('POST', `${PACT}/send`, { json: { cmds: [command] } })
const poll = ({ ask }: Asker, key: string, path = PACT) => ask('POST', `${path}/poll`, { json: { requestKeys: [key] } })
const chain = (path: string, to: number) => path.replace('chain/0', `chain/${to}`)

export const innocents: readonly Innocent[] = [
  {
    name: 'it reads the same again and again, whatever the form of the answer',
    meets: 'answers: the cut in pieces without a length',
    client: async ({ ask }) => {
      for (let i = 0; i < 6; i++) await ask('GET', `${BASE}/cut`)
    },
  },
  {
    name: 'it reads the same twice',
    meets: 'answers: info with a service date',
    client: async ({ ask }) => {
      for (let i = 0; i < 2; i++) await ask('GET', '/info')
    },
  },
  {
    name: 'it reads many things at once while the node is busy',
    meets: 'busy: local is 503: too many calls wait',
    client: async ({ ask, command, pass }) => {
      const read = (i: number) => ask('POST', `${PACT}/local`, { json: command({ code: `(+ 1 ${i})` }) })
      await Promise.all(Array.from({ length: 12 }, (_, i) => read(i)))
      pass(1000)
      await read(0)
    },
  },
  {
    name: 'it reads the same twelve times at once',
    meets: 'requests: equal requests in a row come no more often than 10 times a second',
    client: ({ ask }) => Promise.all(Array.from({ length: 12 }, () => ask('GET', `${BASE}/cut`))),
  },
  {
    name: 'it reads the cut before each of many other requests',
    meets: 'requests: equal requests in a row come no more often than 10 times a second',
    client: async ({ ask }) => {
      for (let i = 0; i < 12; i++) {
        await ask('GET', `${BASE}/cut`)
        await ask('GET', `${BASE}/chain/0/hash?limit=${i + 1}`)
      }
    },
  },
  {
    name: 'its user sends something else after a send without an answer',
    meets: 'sending: the connection closes before the node has the command',
    client: async (asker) => {
      await send(asker, asker.command({ code: '(+ 1 1)' }))
      await send(asker, asker.command({ code: '(+ 1 2)' }))
    },
  },
  {
    name: 'its user sends the same to another chain after a send without an answer',
    meets: 'sending: send is 503 once',
    client: async (asker) => {
      await send(asker, asker.command())
      await asker.ask('POST', `${chain(PACT, 1)}/send`, { json: { cmds: [asker.command({ chain: 1 })] } })
    },
  },
  {
    name: 'it searches all chains for a command',
    meets: 'commands: a client asks the chain that it sent the command to',
    client: async (asker) => {
      const command = asker.command()
      await send(asker, command)
      for (const to of [1, 0, 1]) await poll(asker, command.hash, chain(PACT, to))
    },
  },
  {
    name: 'it looks whether a command is in a block before it sends it',
    meets: 'commands: a command has the hash of its content',
    client: async (asker) => {
      const command = asker.command()
      await poll(asker, command.hash)
      await send(asker, command)
    },
  },
  {
    name: 'it makes a cursor of a hash that it has',
    meets: 'requests: a cursor is one that the node knows',
    client: async ({ ask }) => {
      const cut = JSON.parse((await ask('GET', `${BASE}/cut`)).body.toString())
      await ask('GET', `${BASE}/chain/0/hash?next=inclusive:${cut.hashes[0].hash}`)
    },
  },
  {
    name: 'it ends a stream when it has seen enough',
    meets: 'streams: the stream is 503 once',
    client: async ({ ask, pass }) => {
      await ask('GET', `${BASE}/header/updates`)
      pass(1000)
      await ask('GET', `${BASE}/header/updates`)
    },
  },
  {
    name: 'it takes the server for a proxy',
    meets: 'requests: the path is an endpoint of live nodes',
    client: ({ ask, url }) => ask('GET', '/info', { target: `${url}/info` }),
  },
]
