/** Main module of a thread that runs test files, one after the other. */
import { parentPort } from 'node:worker_threads'
import { type FileQuestions, runUnforked } from './files.ts'

parentPort?.on('message', ({ file, questions }: { readonly file: string; readonly questions: FileQuestions }) => {
  parentPort?.postMessage(runUnforked(file, questions))
})
