/** Main module of the thread that runs a debugged transaction. */
import { workerData } from 'node:worker_threads'
import { type DebugThreadData, serveDebugger } from '#language/debugger/debug-thread.ts'
import type { Recording } from '../execution/recording.ts'
import { TransactionProgram } from './transaction-program.ts'

const { recording, ...data } = workerData as DebugThreadData & { readonly recording: Recording }
serveDebugger(data, (ask) => new TransactionProgram(recording, ask))
