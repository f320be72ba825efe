#!/usr/bin/env node
/** Entry point of the command line. */
import { bundled } from './ground/platform/bundled.ts'

const program = bundled('newcut')
if (program === undefined) await import('./newcut.ts')
else await import(program.href)
