/** The log of a command that runs until it is stopped: on the console, and in the file of --log-file. */
import { existsSync, rmSync } from 'node:fs'
import { asNewcutError, describeError, operatingError } from '#ground/base/errors.ts'
import { LogFile, type LogFileEvents } from '#ground/platform/log-file.ts'
import { changingView, type ReplaceableView, type ViewMaker } from './changing-view.ts'
import { writeFlags } from './config-file.ts'
import { cliErrors } from './errors.ts'
import { fileView } from './file-view.ts'
import type { LogFormat, LogLevel, LogStyle } from './levels.ts'
import { type ConsoleEvent, errorEvent, withFlags } from './notices.ts'
import { outputProblem } from './output-file.ts'

/** The options of cli/options/log.ts. */
export interface LogValues {
  readonly log: LogFormat
  readonly 'log-level': LogLevel
  readonly 'log-file': string | undefined
  /** With it, newcut only tests whether it can open the file. */
  readonly 'dry-run'?: boolean
}

/** The views of the console, and the time for the file. */
export interface LogOutputs {
  readonly views: ViewMaker
  readonly nowMs: () => number
}

/** The style of the options. */
export const styleOf = (values: LogValues): LogStyle => ({ format: values.log, level: values['log-level'] })

/**
 * Runs a task with its log. The file also gets the error that ends the task. SIGUSR2 reopens the file. Without a file
 * it does nothing, because it must not end the miner.
 * @throws NewcutError BAD_OPTION if the file cannot be opened
 */
export async function withLog<T>(
  values: LogValues,
  { views, nowMs }: LogOutputs,
  task: (log: ReplaceableView) => Promise<T>,
): Promise<T> {
  const onConsole = changingView(styleOf(values), views)
  const kept = openFileLog(values, onConsole, nowMs)
  const inFile = kept?.face
  const reopen = () => kept?.file.reopen()
  const onCrash = (error: Error) => inFile?.tell(errorEvent(asNewcutError(error), writeFlags))
  process.on('SIGUSR2', reopen)
  process.on('uncaughtExceptionMonitor', onCrash)
  try {
    return await task(withFlagNames(inFile === undefined ? onConsole : tee(onConsole, inFile)))
  } catch (error) {
    // main.ts shows it on the console.
    inFile?.tell(errorEvent(asNewcutError(error), writeFlags))
    throw error
  } finally {
    process.off('uncaughtExceptionMonitor', onCrash)
    process.off('SIGUSR2', reopen)
    kept?.end()
  }
}

/** The log with the flags of the command in its warnings. */
function withFlagNames(log: ReplaceableView): ReplaceableView {
  return {
    ...log,
    show: (event) => log.show(withFlags(event, writeFlags)),
    tell: (event) => log.tell(withFlags(event, writeFlags)),
  }
}

/**
 * Opens the file as a test, and removes a file that it created.
 * @throws NewcutError BAD_OPTION
 */
function tryLogFile(path: string): void {
  const wasThere = existsSync(path)
  const nothing = () => undefined
  openLogFile(path, { onFailing: nothing, onRecovered: nothing, onNotReopened: nothing }).close()
  if (!wasThere) rmSync(path)
}

/** @returns the file and its face, or null without a file. Failures of the file go to the console. */
function openFileLog(values: LogValues, onConsole: ReplaceableView, nowMs: () => number) {
  const path = values['log-file']
  if (path === undefined) return null
  if (values['dry-run']) {
    tryLogFile(path)
    return null
  }
  const file = openLogFile(path, {
    onFailing: (error) => {
      const message = `log file ${path}: lines cannot be written, and are missing in it (${describeError(error)})`
      onConsole.tell({ type: 'warning', message: `${message}; newcut continues without them` })
    },
    onRecovered: (lost) => {
      const event: ConsoleEvent = {
        type: 'recovered',
        message: `log file ${path}: lines can be written again; ${missingText(lost)}`,
      }
      onConsole.tell(event)
      view.tell(event)
    },
    onNotReopened: (error) => {
      const message = `log file ${path}: cannot be reopened (${describeError(error)}); newcut keeps writing to the old file`
      onConsole.tell({ type: 'warning', message })
    },
  })
  const view = changingView(styleOf(values), (format) => fileView(format, file, nowMs))
  const end = () => {
    file.close()
    if (file.lost > 0) onConsole.tell({ type: 'warning', message: `log file ${path}: ${missingText(file.lost)}` })
  }
  return { file, face: view, end }
}

const missingText = (lines: number) => (lines === 1 ? '1 line is missing' : `${lines} lines are missing`)

function openLogFile(path: string, events: LogFileEvents): LogFile {
  try {
    return LogFile.open(path, events)
  } catch (error) {
    const { problem, hint } = outputProblem(path, error as NodeJS.ErrnoException)
    throw operatingError(cliErrors.unusableLogFile, { file: path, problem, advice: hint }, error)
  }
}

function tee(one: ReplaceableView, other: ReplaceableView): ReplaceableView {
  return {
    show: (event) => {
      one.show(event)
      other.show(event)
    },
    tell: (event) => {
      one.tell(event)
      other.tell(event)
    },
    attend: one.attend,
    use: (style) => {
      one.use(style)
      other.use(style)
    },
  }
}
