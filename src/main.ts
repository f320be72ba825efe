#!/usr/bin/env node
/** Entry point of the command line. */
import { bundleOf } from './ground/platform/bundled.ts'

const program = bundleOf('newcut')
if (program === undefined) await import('./newcut.ts')
else await import(program.href)
