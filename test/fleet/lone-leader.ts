/** The leader of a fleet with its NATS server and its node, for one test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevnet } from '../../src/compose/devnet.ts'
import { start } from '../cli/run.ts'
import { NatsServer } from './nats.ts'

/**
 * Starts them. The difficulty is too high for any block.
 * @returns `face`: the address of the leader's HTTP interface
 */
export async function startLoneLeader(onTestFinished: (end: () => Promise<void>) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-leader-'))
  const nats = await NatsServer.start(folder)
  const devnet = await startDevnet({ port: 0, difficulty: 10n ** 12n })
  onTestFinished(async () => {
    await devnet.close()
    await nats.kill()
    rmSync(folder, { recursive: true })
  })
  const leader = start(['lead', '--nats', nats.url, '--node', devnet.url, '--http', '127.0.0.1:0', '--state', 'off'])
  await leader.sees(/this process is the leader/)
  const [, face] = await leader.sees(/metrics: (http:\/\/127\.0\.0\.1:\d+)/)
  return { nats, devnet, leader, face }
}
