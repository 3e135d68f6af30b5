'use strict';
// Every message and service, from the .proto files of the protocol and the three of protos/.

const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

// A provider outside this repository keeps a copy of the protocol's folder and names it here.
const protocol = path.join(__dirname, '../../../../proto');
const ours = path.join(__dirname, '../../protos');

const definition = loader.loadSync(
  [
    ...['tool', 'slashcommand', 'kernel', 'event'].map((area) => `pluggableharness/${area}/v1/${area}.proto`),
    'plugin/plugin.proto',
    'health/health.proto',
    'google/rpc/status.proto',
  ],
  // Field names as they are written, enum values by name, and the name of the member that a oneof holds.
  { includeDirs: [protocol, ours], keepCase: true, enums: String, longs: Number, defaults: true, oneofs: true },
);

// Of everything only what is used: services by name, and two messages that travel inside of others as bytes.
module.exports = {
  services: grpc.loadPackageDefinition(definition),
  toolResultEvent: definition['pluggableharness.event.v1.ToolResultEvent'],
  toolError: definition['pluggableharness.tool.v1.ToolError'],
  status: definition['google.rpc.Status'],
};
