#!/usr/bin/env bash
# Prints the state of the miner as mmpOS reads it; nothing, with exit code 1, where no miner answers.

curl --silent --fail --max-time 5 "http://127.0.0.1:${WEB_PORT:-4148}/mmpos"
