/** `node guard.js SESSION`: ends that session when stdin ends, which means that the run has ended. */
import { endSession } from './processes.ts'

process.stdin.resume().on('end', () => endSession(Number(process.argv[2])))
