/** `newcut lead`: gives work of a node to the rigs of a fleet, or stands by. */

import { tryMiner } from '#compose/dry-run.ts'
import { type MinerStart, runMiner } from '#compose/miner.ts'
import { checkPayee } from '#compose/payee.ts'
import type { LeaderSearch, MinerSetup, NodesSetup } from '#compose/setup.ts'
import type { ReplaceableView } from '#faces/cli/changing-view.ts'
import type { Config } from '#faces/cli/config.ts'
import { withLog } from '#faces/cli/log.ts'
import type { leadOptions } from '#faces/cli/options/lead.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { viewsOf } from '#faces/cli/text-view.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { readNatsAddress } from '#mining/fleet/address.ts'
import { FleetLink } from '#mining/fleet/link.ts'
import { linkSetup, machineName } from './input/fleet-setup.ts'
import { commonSetup, nodesSetup, stateSetupOf } from './input/miner-setup.ts'
import { networksOf } from './input/network-files.ts'
import { attendMiner, faceLines, firstLines, journalLines, sourceLines } from './results/miner-lines.ts'

type LeaderConfig = Config<typeof leadOptions>

export function runLead(config: LeaderConfig, context: CommandContext): Promise<number> {
  return context.untilStopped((stopped) => lead(config, context, stopped))
}

/** Resolves with the exit code. */
async function lead(config: LeaderConfig, context: CommandContext, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const networks = await networksOf(values['network-file'])
  const state = stateSetupOf(values.state, context.environment)
  const source = { ...nodesSetup(values, values.node, networks), state }
  checkPayee(source.payee)
  const log = { views: viewsOf(context), nowMs: context.nowMs }
  return withLog(values, log, (view) => leadWith(view, config, { source, version: context.version }, stopped))
}

/** Resolves with the exit code. */
async function leadWith(
  log: ReplaceableView,
  config: LeaderConfig,
  { source, version }: { readonly source: NodesSetup } & Pick<CommandContext, 'version'>,
  stopped: AbortSignal,
): Promise<number> {
  const { values } = config
  const { nats } = values
  let leave: () => void = () => undefined
  let link: FleetLink | null = null
  try {
    const agent = `newcut/${version}`
    const onWaiting = (message: string) => log.show({ type: 'trouble', message })
    const server = { ...linkSetup(values, nats), domain: values['nats-domain'] }
    const options = { ...server, agent, clock: systemClock, random: Math.random }
    const isTried = values['dry-run']
    link = await FleetLink.open(options, isTried || values['fail-fast'] ? null : onWaiting, stopped)
    const replicas = values['nats-replicas'] && Number(values['nats-replicas'])
    const search: LeaderSearch = { kind: 'leader', link, name: machineName(), replicas }
    const setup = { ...commonSetup(config), source, search }
    if (isTried) {
      log.tell({ type: 'banner', lines: await dryRunLines(config, setup, stopped) })
      return 0
    }
    log.show({ type: 'banner', lines: [...firstLines(version), fleetLine(values)] })
    const unlisten = link.listen((problem) => {
      log.show(
        problem === null ? { type: 'recovered', message: 'NATS answers' } : { type: 'trouble', message: problem },
      )
    })
    const snapshot = await runMiner(setup, {
      onEvent: log.show,
      onStart: (start) => {
        log.show({ type: 'banner', lines: banner(start, setup, config) })
        leave = attendMiner(log, start)
      },
      stopped,
    })
    unlisten()
    leave()
    log.show({ type: 'summary', snapshot })
    return 0
  } catch (error) {
    // A failure after the user asked to stop is not an error.
    if (stopped.aborted) return 0
    throw error
  } finally {
    leave()
    await link?.close()
  }
}

async function dryRunLines(config: LeaderConfig, setup: MinerSetup, stopped: AbortSignal): Promise<string[]> {
  return [
    fleetLine(config.values),
    ...(config.file === null ? [] : [`configuration: ${config.file}`]),
    ...(await tryMiner(setup, stopped)),
    'all checks passed; without --dry-run, newcut would lead or stand by',
  ]
}

function fleetLine({ nats, 'fleet-name': name }: LeaderConfig['values']): string {
  const servers = nats.map(readNatsAddress).map(({ url }) => url)
  return `fleet: ${name} at ${servers.join(', ')}; rigs join with newcut mine --fleet ${servers[0]}`
}

function banner(start: MinerStart, { source }: MinerSetup, { file }: LeaderConfig): string[] {
  return [
    ...(file === null ? [] : [`configuration: ${file}`]),
    ...sourceLines(start, source),
    ...faceLines(start.api),
    ...journalLines(start.journal),
  ]
}
