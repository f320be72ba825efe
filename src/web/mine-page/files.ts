/** The files of the mining page: its own, its scripts, and the shader. */
import { shaderText } from '../../engine/gpu/shader.ts'
import { type Asset, policyWith, scriptAssets, siteAsset } from '../assets.ts'

/** Reads all files, by path. Throws if the package is incomplete. */
export function readMinePage(): ReadonlyMap<string, Asset> {
  return new Map<string, Asset>([
    ['/mine', { ...siteAsset('mine-page/site/mine.html'), policy: policyWith() }],
    ['/mine/mine.css', siteAsset('mine-page/site/mine.css')],
    ['/mine/icon.svg', siteAsset('kit/site/icon.svg')],
    ['/mine/search.wgsl', { type: 'text/plain;charset=utf-8', text: shaderText() }],
    ...scriptAssets('mine-page', '/mine'),
  ])
}
