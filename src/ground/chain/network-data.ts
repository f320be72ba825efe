/**
 * The networks of networks/*.yaml, as `npm run networks` writes them. So a start of the miner loads no reader of YAML.
 */
import { completeNetwork, type Network, type NetworkDefinition } from './network.ts'
import { definitionOf, type NetworkForm } from './network-form.ts'

const completeForm = (form: NetworkForm) => completeNetwork(definitionOf(form)) as Network

/** The files by name. */
export const networkForms = {
  "development": {
    "network": 1,
    "name": "development",
    "code": 2,
    "public": false,
    "graphs": [{"from":0,"graph":"twenty"}],
    "block-delay": "30s",
    "window": 120,
    "genesis": {"time":"2019-07-17T18:28:37.613832Z","targets":[{"difficulty":100000}],"any-target":true,"first-epoch":"faked"},
    "rules": {"slow-epochs-until":"genesis","parent-time":"genesis","fork-flags":"genesis","mean-target":"genesis"},
    "forks": {"highest":1,"casting":14280},
    "gas": {"block":150000,"sizes":[{"from":"genesis","model":"post32"}]},
  },
  "evm-development-pair": {
    "network": 1,
    "name": "evm-development-pair",
    "code": 65547,
    "public": false,
  },
  "evm-development-singleton": {
    "network": 1,
    "name": "evm-development-singleton",
    "code": 65548,
    "public": false,
  },
  "evm-development": {
    "network": 1,
    "name": "evm-development",
    "code": 11,
    "public": false,
  },
  "evm-testnet": {
    "network": 1,
    "name": "evm-testnet",
    "code": 10,
  },
  "mainnet01": {
    "network": 1,
    "name": "mainnet01",
    "code": 5,
    "graphs": [{"from":0,"graph":"petersen"},{"from":852054,"graph":"twenty"}],
    "block-delay": "30s",
    "window": 120,
    "genesis": {"time":"2019-10-30T00:01:00Z","targets":[{"chains":"0-9","difficulty":1},{"chains":"10-19","target":"000000000000cb73de4be95ba21db5b9178dd85974c194e3ee05717dd8afa830"}],"first-epoch":"plain"},
    "rules": {"slow-epochs-until":80000,"parent-time":452820,"fork-flags":530500,"mean-target":771414,"language-5.4.1":{"fork":1}},
    "forks": {"highest":1,"casting":14280},
    "gas": {"block":150000,"sizes":[{"from":"genesis","model":"pre31"},{"from":6510744,"model":"post31"},{"from":{"fork":1},"model":"post32"}]},
    "verifiers": [{"from":4577530,"names":["hyperlane_v3_message"]}],
    "spv-window": [{"from":6269345,"blocks":20000},{"from":6510743,"blocks":"none"},{"from":{"fork":1},"blocks":525600}],
  },
  "recap-development": {
    "network": 1,
    "name": "recap-development",
    "code": 1,
    "public": false,
    "graphs": [{"from":0,"graph":"petersen"},{"from":60,"graph":"twenty"}],
    "block-delay": "30s",
    "window": 120,
    "genesis": {"time":"2019-07-17T18:28:37.613832Z","targets":[{"chains":"0-9","difficulty":100000},{"chains":"10-19","target":"0000088f99632cadf39b0db7655be62cb7dbc84ebbd9a90e5b5756d3e7d9196c"}],"payloads":[{"chains":0,"hash":"5TWTF5R6Vc85vWHqcklTY91ljkV6mJ1wYfDJShooTCw"},{"chains":"1-9","hash":"yZ6Syxl34TTrGGKxVHInV0S29BH8v-C8VZTbJr2eK2k"},{"chains":"10-19","hash":"OXFBWONFKY7fTY4MH3GaOOELd_cPCMn9GpIOPBYMsvM"}],"first-epoch":"faked"},
    "rules": {"slow-epochs-until":"genesis","parent-time":"genesis","fork-flags":"genesis","mean-target":13},
    "forks": {"highest":0,"casting":14280},
    "gas": {"block":150000,"sizes":[{"from":"genesis","model":"pre31"},{"from":692,"model":"post31"}]},
    "verifiers": [{"from":600,"names":["hyperlane_v3_message","allow","signed_list"]}],
  },
  "stoa": {
    "network": 1,
    "name": "stoa",
    "code": 10,
    "graphs": [{"from":0,"graph":"petersen"}],
    "block-delay": "30s",
    "window": 120,
    "genesis": {"time":"2026-02-23T18:00:00Z","targets":[{"difficulty":100000}],"first-epoch":"faked"},
    "rules": {"slow-epochs-until":"genesis","parent-time":"genesis","fork-flags":"genesis","mean-target":"genesis","language-5.4.1":517000},
    "forks": {"highest":0,"casting":14280},
    "gas": {"block":2000000,"sizes":[{"from":"genesis","model":"pre31"},{"from":517000,"model":"post32"}]},
    "coin": {"payment":"result","pattern":"Miner {account} succesfully mined {amount} STOA","forecast":"none","symbol":"STOA","grants":["COINBASE","DEBIT"],"result":"returned"},
    "verifiers": [{"from":"genesis","names":["hyperlane_v3_message","allow","signed_list"]}],
  },
  "testnet04": {
    "network": 1,
    "name": "testnet04",
    "code": 7,
    "graphs": [{"from":0,"graph":"petersen"},{"from":332604,"graph":"twenty"}],
    "block-delay": "30s",
    "window": 120,
    "genesis": {"time":"2019-07-17T18:28:37.613832Z","targets":[{"chains":"0-9","difficulty":1},{"chains":"10-19","target":"000000001b9bf15be43824bae4c4f17722572883f7b53ed2e8c6ba9596249235"}],"first-epoch":"plain"},
    "rules": {"slow-epochs-until":"genesis","parent-time":"genesis","fork-flags":"genesis","mean-target":318204,"language-5.4.1":"never"},
    "forks": {"highest":0,"casting":14280},
    "gas": {"block":150000,"sizes":[{"from":"genesis","model":"pre31"},{"from":5783987,"model":"post31"}]},
    "verifiers": [{"from":4100681,"names":["hyperlane_v3_message"]}],
    "spv-window": [{"from":5783986,"blocks":20000}],
  },
  "testnet05": {
    "network": 1,
    "name": "testnet05",
    "code": 9,
  },
  "testnet06": {
    "network": 1,
    "name": "testnet06",
    "code": 8,
    "graphs": [{"from":0,"graph":"twenty"}],
    "block-delay": "30s",
    "window": 120,
    "genesis": {"time":"2026-02-16T08:15:00Z","targets":[{"difficulty":100000}],"payloads":[{"chains":0,"hash":"EyMMEitzZjPXEtL8cVgEgiN4w48CBBx0wMWZGQDretw"},{"chains":"1-19","hash":"eq3MSmd5bkjQXSqibeEjWvL2_AZqwwipPEWOTMl0FkY"}],"first-epoch":"plain"},
    "rules": {"slow-epochs-until":"genesis","parent-time":"genesis","fork-flags":"genesis","mean-target":13,"language-5.4.1":{"fork":1}},
    "forks": {"highest":1,"casting":14280},
    "gas": {"block":150000,"sizes":[{"from":"genesis","model":"pre31"},{"from":640,"model":"post31"},{"from":{"fork":1},"model":"post32"}]},
    "verifiers": [{"from":600,"names":["hyperlane_v3_message"]}],
  },
} as const satisfies Readonly<Record<string, NetworkForm>>

/** The network `development`. */
export const development = completeForm(networkForms.development)

/** The network `evm-development-pair`. */
export const evmDevelopmentPair = definitionOf(networkForms['evm-development-pair'])

/** The network `evm-development-singleton`. */
export const evmDevelopmentSingleton = definitionOf(networkForms['evm-development-singleton'])

/** The network `evm-development`. */
export const evmDevelopment = definitionOf(networkForms['evm-development'])

/** The network `evm-testnet`. */
export const evmTestnet = definitionOf(networkForms['evm-testnet'])

/** The network `mainnet01`. */
export const mainnet01 = completeForm(networkForms.mainnet01)

/** The network `recap-development`. */
export const recapDevelopment = completeForm(networkForms['recap-development'])

/** The network `stoa`. */
export const stoa = completeForm(networkForms.stoa)

/** The network `testnet04`. */
export const testnet04 = completeForm(networkForms.testnet04)

/** The network `testnet05`. */
export const testnet05 = definitionOf(networkForms.testnet05)

/** The network `testnet06`. */
export const testnet06 = completeForm(networkForms.testnet06)

/** All of them. */
export const definitions: readonly NetworkDefinition[] = [development, evmDevelopmentPair, evmDevelopmentSingleton, evmDevelopment, evmTestnet, mainnet01, recapDevelopment, stoa, testnet04, testnet05, testnet06]
