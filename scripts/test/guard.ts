/** `node guard.js SESSION`: ends that session once standard input has ended, which is when the run is gone. */
import { endSession } from './processes.ts'

process.stdin.resume().on('end', () => endSession(Number(process.argv[2])))
