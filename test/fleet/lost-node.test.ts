/** A leader whose node is killed: real processes, and a rig at a relay (RIGS, session 17). */
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { run, start, stopAll } from '../cli/run.ts'
import { describeWith, lackOf } from '../needs.ts'
import { freePort } from '../ports.ts'
import { Rig } from '../support/stratum-rig.ts'
import { until } from '../wait.ts'
import { natsUrl } from './nats.ts'

afterEach(stopAll)

describeWith(lackOf('nats-server'), 'a leader whose node is killed', () => {
  /** A node of its own network, too difficult for any block to be found. */
  async function node() {
    const port = String(await freePort())
    const started = start(['devnet', '--port', port, '--difficulty', '1000000000000000'])
    await started.sees(/http:\/\/127/)
    return { url: `http://127.0.0.1:${port}`, child: started.child, ended: started.ended }
  }

  const lead = (nats: string, { url }: { readonly url: string }, name: string) =>
    start([
      'lead',
      '--nats',
      nats,
      '--node',
      url,
      '--http',
      'off',
      '--state',
      'off',
      '--public-key',
      name.repeat(64),
      '--account',
      `k:${name.repeat(64)}`,
    ])

  it('a leader without a node passes the lead to one whose node answers, and the rigs of a relay get its work', async () => {
    const nats = await natsUrl()
    const nodes = [await node(), await node()]
    const first = lead(nats, nodes[0], 'a')
    await first.sees(/this process is the leader/)
    const second = lead(nats, nodes[1], 'b')
    await second.sees(/stands by/)
    const port = await freePort()
    const listen = ['--stratum-listen', `127.0.0.1:${port}`]
    const relay = start([
      'mine',
      '--fleet',
      nats,
      '--rig',
      'alpha',
      '--threads',
      '0',
      '--http',
      'off',
      '--state',
      'off',
      ...listen,
    ])
    await relay.sees(/^rigs: stratum\+tcp/m)
    const rig = await Rig.login(port)
    onTestFinished(() => rig.close())
    await until(() => rig.jobs.length > 0)
    // The list has the last report of the relay.
    await until(async () => /^alpha .* relay of 1 rig/m.test((await run(['fleet', '--nats', nats])).out))
    const workOf = (job: { readonly header: Uint8Array } | undefined) =>
      Buffer.from(job?.header.subarray(16, 270) ?? [])
    const before = workOf(rig.jobs.at(-1))
    nodes[0].child.kill('SIGKILL')
    await until(() => !workOf(rig.jobs.at(-1)).equals(before))
    expect(rig.hasEnded).toBe(false)
    await second.sees(/this process is the leader/)
    expect((await run(['fleet', '--nats', nats, '--json'])).out).toMatch(/"account":"k:bbbb/)
    expect(first.child.exitCode).toBeNull()
  })
})
