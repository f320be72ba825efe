/**
 * The program of a GPU's child process. Drivers crash, hang and leak; a separate process contains the damage. It reads
 * commands and writes reports (messages.ts). It ends with its parent, or at the first failure of the device.
 */
import { Socket } from 'node:net'
import { BatchSize, NonceCursor } from './batches.ts'
import { type Dawn, infoOf, listDawnAdapters, loadDawn, openAdapter, UnrecoverableError } from './dawn.ts'
import { prepareWork } from './layout.ts'
import {
  type AdapterInfo,
  engineWorkOf,
  type GpuCommand,
  type GpuReport,
  LineReader,
  REPORT_DESCRIPTOR,
  reportText,
  type SearchSettings,
  type Tuning,
} from './messages.ts'
import { GpuRunner } from './runner.ts'
import { SearchLoop } from './search-loop.ts'
import { selfTestGpu } from './self-test.ts'
import { shaderText } from './shader.ts'
import { DEFAULT_TUNING, readTuning, tune, tuningKey, writeTuning } from './tuning.ts'

/**
 * Dawn polls with setImmediate while one of its promises is pending, which would use a whole core. A timer replaces it;
 * two batches in flight hide the delay. The child's main thread uses 5.2 % of a core at 1 ms, and 4.4 % at 2 ms.
 */
const POLL_MS = 2
Object.assign(globalThis, {
  setImmediate: (run: (...values: unknown[]) => void, ...values: unknown[]) => setTimeout(run, POLL_MS, ...values),
})

/** Pause after each batch, for tests that only wait while a miner searches (test/pace.ts). */
const PACE_MS = Number(process.env.TEST_SEARCH_PACE_MS ?? 0)

const reports = new Socket({ fd: REPORT_DESCRIPTOR, readable: false, writable: true })
reports.on('error', () => process.exit(1))

function send(report: GpuReport): void {
  if (!reports.writableEnded) reports.write(`${JSON.stringify(report)}\n`)
}

/** Reports the first failure and exits. Ignores later ones, which the first one often causes. */
function fail(error: unknown): void {
  if (reports.writableEnded) return
  send({ type: 'failed', message: reportText(error), hopeless: error instanceof UnrecoverableError })
  reports.end(() => process.exit(1))
}

/** The running search, and the newest work, which may arrive first. */
let loop: SearchLoop | null = null
let newest: (GpuCommand & { readonly type: 'work' }) | null = null

function handleCommand(command: GpuCommand): void {
  switch (command.type) {
    case 'list':
      loadDawn()
        .then(listDawnAdapters)
        .then((adapters) => send({ type: 'adapters', adapters }))
        .catch(fail)
      return
    case 'search':
      search(command.settings).catch(fail)
      return
    case 'work':
      newest = command
      passWork()
  }
}

function passWork(): void {
  if (loop === null || newest === null) return
  const { sequence, bytes, target, fixedNonce } = engineWorkOf(newest)
  loop.setWork({ sequence, work: bytes && prepareWork(bytes, target, fixedNonce) })
}

async function search(settings: SearchSettings): Promise<void> {
  const dawn = await loadDawn()
  const { device, info } = await openDevice(dawn, settings)
  const tuning = await tuningOf(dawn, device, info, settings)
  const { workgroup, trips, split, noncesPerMs } = tuning
  const options = { shader: shaderText(), workgroup, split, slots: settings.inFlight }
  const runner = await GpuRunner.create(dawn.globals, device, options)
  const failure = await selfTestGpu(runner)
  if (failure !== null) throw new Error(failure)
  loop = new SearchLoop({
    runner,
    inFlight: settings.inFlight,
    cursor: new NonceCursor(settings.range, trips),
    size: new BatchSize(settings.batchMs, workgroup * trips, settings.batchMs * noncesPerMs),
    send,
    nowMs: () => performance.now(),
    paceMs: PACE_MS,
  })
  send({ type: 'ready', adapter: info, tuning })
  passWork()
  await loop.run()
}

async function openDevice(dawn: Dawn, settings: SearchSettings): Promise<{ device: GPUDevice; info: AdapterInfo }> {
  const choice = settings.adapter ?? (await listDawnAdapters(dawn))[0]
  const adapter = choice && (await openAdapter(dawn, choice))
  if (!adapter)
    throw new UnrecoverableError(`no graphics driver offers ${settings.adapter?.name ?? 'a device that computes'}`)
  const info = infoOf(adapter, choice)
  if (info.software && !settings.allowSoftware) throw new UnrecoverableError(`${info.name} is a software driver`)
  const { maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX } = adapter.limits
  const device = await adapter.requestDevice({
    label: info.name,
    // Without a request, both limits are 256 on every card.
    requiredLimits: { maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX },
  })
  // The only sign of a dispatch that fails validation: its buffers keep their old content.
  device.addEventListener('uncapturederror', ({ error }) => fail(error.message))
  void device.lost.then(({ message }) => fail(`device lost: ${message}`))
  return { device, info }
}

/** Tuning from the options, the file, or measurements, in this order. */
async function tuningOf(dawn: Dawn, device: GPUDevice, info: AdapterInfo, settings: SearchSettings): Promise<Tuning> {
  const { tuningFile, retune, batchMs } = settings
  const shader = shaderText()
  const key = tuningKey(info, shader)
  const maxLanes = device.limits.maxComputeInvocationsPerWorkgroup
  let tuning = tuningFile === null || retune ? null : readTuning(tuningFile, key)
  if (tuning === null && tuningFile !== null) {
    const create = (sizes: Pick<Tuning, 'workgroup' | 'split'>) =>
      GpuRunner.create(dawn.globals, device, { shader, ...sizes, slots: 2 })
    const mayGainBySplit = info.vendor === 'nvidia'
    tuning = await tune(create, { maxInvocations: maxLanes, batchMs, mayGainBySplit })
    saveTuning(tuningFile, key, tuning)
  }
  const { workgroup, trips, split, noncesPerMs } = tuning ?? DEFAULT_TUNING
  if ((settings.workgroup ?? 1) > maxLanes)
    throw new UnrecoverableError(`${info.name} takes workgroups of ${maxLanes} lanes at most`)
  return {
    workgroup: settings.workgroup ?? workgroup,
    trips: settings.trips ?? trips,
    split: settings.split ?? split,
    noncesPerMs,
  }
}

/** Saves the tuning. A failure causes only a warning. */
function saveTuning(file: string, key: string, tuning: Tuning): void {
  try {
    writeTuning(file, key, tuning)
  } catch (error) {
    send({ type: 'warning', message: reportText(`tuned values are not kept: ${reportText(error)}`) })
  }
}

const lines = new LineReader()
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text: string) => {
  for (const line of lines.push(text)) handleCommand(JSON.parse(line) as GpuCommand)
})
// The parent is gone.
process.stdin.on('end', () => process.exit(0))
// Ctrl-C reaches the whole process group; the parent decides what to do.
process.on('SIGINT', () => undefined)
