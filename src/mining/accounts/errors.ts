/** The errors of share logs. */
import { errorRows } from '#ground/base/errors.ts'

export const shareErrors = errorRows({
  noFleetLog: {
    code: 'BAD_INPUT',
    text: '{url}: the fleet {fleet} has no share log',
    hint: 'its leader creates one for the first relay (newcut mine --fleet URL --stratum-listen HOST:PORT); --fleet-name names another fleet',
  },
  fleetLogUnreadable: {
    code: 'NODE_UNREACHABLE',
    text: 'cannot read the share log of the fleet at {url}: {why}',
    hint: 'check that the NATS server is up, and try again',
  },
  fleetLogCutShort: {
    code: 'NODE_UNREACHABLE',
    text: 'the share log of the fleet broke off early at {url}',
    hint: 'check that the NATS server is up, and try again',
  },
  notStoredInFleet: {
    code: 'NODE_UNREACHABLE',
    text: 'cannot store shares in JetStream, stream {stream}: {why}',
    hint: 'a share counts once JetStream has it: check that the NATS server is up and has room',
  },
  noRoomInFleet: {
    code: 'DATA_UNUSABLE',
    text: 'the NATS server has no room for {bytes} bytes of shares in {stream}: {why}',
    hint: 'raise max_file_store in its configuration',
  },
  minerSilent: {
    code: 'NODE_UNREACHABLE',
    text: 'no answer from the miner at {url}: {why}',
    hint: 'check that it is running, and that this is its --http address',
  },
  minerRefuses: {
    code: 'NODE_REFUSED',
    text: '{url}: {why}',
    noHint: 'the text is the answer of the miner, which says what to do',
  },
  lineNotJson: {
    code: 'NODE_MISBEHAVED',
    text: '{url}: a line of the share log is not valid JSON',
    hint: 'check that a miner answers at this address, and no other program',
  },
  logInUse: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: another miner uses this share log',
    hint: 'one miner per share log: stop the other one, or use another `state`',
  },
  logUnusable: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: the share log cannot be used: {why}',
    hint: 'it must be a folder that this user may read and write; `state: DIR` names another',
  },
  logDamaged: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: the share log is damaged: {why}',
    hint: 'restore a copy of the folder, or move it away; the miner begins a new share log in its place',
  },
  logFormat: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: the share log has the format {format}, and this newcut knows {known}',
    hint: 'use a newer newcut, or another `state`',
  },
  logNetwork: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: the share log is of the network {other}, not of {network}',
    hint: 'give each network a `state` of its own',
  },
  logClosed: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: the share log is closed',
    noHint: 'the miner is ending, and the share is refused',
  },
  notStored: {
    code: 'DATA_UNUSABLE',
    text: '{folder}: cannot store shares: {why}',
    hint: 'check that the disk has room; newcut stores shares again once it does',
  },
})
