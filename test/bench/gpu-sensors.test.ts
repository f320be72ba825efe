import { expect, it } from 'vitest'
import { parseSensors } from '../../bench/gpu-sensors.ts'

it.each([
  ['612.34, 57\n', { watts: 612.34, celsius: 57 }],
  ['[N/A], 57\n', { watts: null, celsius: 57 }],
  ['No devices were found\n', { watts: null, celsius: null }],
  // Two cards.
  ['612.34, 57\n68.90, 31\n', null],
])('reads %j', (output, sensors) => {
  expect(parseSensors(output)).toEqual(sensors)
})
