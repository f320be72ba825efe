/** The files of the mining page: its own, and the shader. */
import { shaderText } from '#mining/engine/gpu/shader.ts'
import { type Asset, pageAssets, policyWith } from '../assets.ts'

/**
 * Reads all files, by path.
 * @throws if the package is incomplete
 */
export function readMinePage(): ReadonlyMap<string, Asset> {
  return new Map<string, Asset>([
    ...pageAssets('mine-page', '/mine', policyWith(), () => '/mine'),
    ['/mine/search.wgsl', { type: 'text/plain;charset=utf-8', text: shaderText() }],
  ])
}
