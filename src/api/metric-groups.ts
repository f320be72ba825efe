/** Groups of metrics by what people do, in the order of docs/METRICS.md. */

/** Heading -> metrics of the group, each with a place to read more, or null. */
export const metricGroups: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  'Hashrate and devices': {
    newcut_hashes_total: null,
    newcut_hashrate_hashes_per_second: null,
    newcut_hashrate_highest_hashes_per_second: null,
    newcut_device_up: null,
    newcut_device_faults_total: null,
    newcut_hardware_errors_total: null,
    newcut_miner_hashes_total: null,
    newcut_miner_faults_total: null,
    newcut_miner_hardware_errors_total: null,
    newcut_paused: null,
    newcut_paused_by: '[Pausing](CONFIGURATION.md#pause)',
    newcut_build_info: null,
  },
  'Temperature, fans, power and energy': {
    newcut_temperature_celsius: null,
    newcut_fan_speed_ratio: null,
    newcut_power_watts: null,
    newcut_energy_joules_total: '[Energy](MONITORING.md#energy)',
    newcut_joules_per_hash: null,
    newcut_energy_unread_devices: null,
  },
  'Blocks and shares that the miner finds': {
    newcut_solutions_total: '[Verdicts](FAILURES.md#verdicts)',
    newcut_blocks_total: null,
    newcut_pool_blocks_total: null,
    newcut_submit_duration_seconds: null,
  },
  'Work and nodes': {
    newcut_work_age_seconds: null,
    newcut_work_preemptions_total: null,
    newcut_preempt_duration_seconds: null,
    newcut_work_fork_votes: null,
    newcut_difficulty_hashes: null,
    newcut_update_stream_connected: null,
    newcut_node_up: null,
    newcut_node_active: null,
    newcut_node_lag_blocks: null,
    newcut_node_latency_seconds: null,
  },
  'Stratum rigs': {
    newcut_rig_sessions: null,
    newcut_rig_shares_total: '[Refused shares](RIGS.md#refused-shares)',
    newcut_rig_device_shares_total: null,
    newcut_rig_device_refused: null,
    newcut_rig_refused_total: '[Requests that are refused](RIGS.md#requests-that-are-refused)',
    newcut_rig_closed_total: '[Connections that are closed](RIGS.md#connections-that-are-closed)',
    newcut_rig_sent_away_total: '[Rigs behind a pool](RIGS.md#rigs-behind-a-pool)',
  },
  'Users of a pool': {
    newcut_rig_user_sessions: null,
    newcut_rig_user_shares_total: null,
    newcut_rig_user_hashes_total: null,
    newcut_share_log_failing: null,
  },
  Fleets: {
    newcut_fleet_leading: null,
    newcut_fleet_rigs: null,
  },
}
