'use strict';
// Failures with a category, and the two forms they travel in: an event of a call, and the details of a gRPC status.

const grpc = require('@grpc/grpc-js');
const protos = require('./protos.js');
const { toStruct } = require('./struct.js');

const code = {
  INVALID_ARGUMENTS: grpc.status.INVALID_ARGUMENT,
  NOT_FOUND: grpc.status.NOT_FOUND,
  PERMISSION_DENIED: grpc.status.PERMISSION_DENIED,
  EXECUTION_FAILED: grpc.status.FAILED_PRECONDITION,
  TIMEOUT: grpc.status.DEADLINE_EXCEEDED,
  CONCURRENCY_CONFLICT: grpc.status.ABORTED,
  CANCELLED: grpc.status.CANCELLED,
  UNKNOWN: grpc.status.UNKNOWN,
};

/** ToolFailure is an error of one category. Its message is for a person: what was attempted, on what, what to do. */
class ToolFailure extends Error {
  constructor(category, message, details) {
    super(message);
    this.category = category;
    this.details = details;
  }
}

/** quoted is a value from outside in quotes, and no longer than a line: an error must not grow with what it is about. */
const quoted = (text) => JSON.stringify(text?.length > 100 ? `${text.slice(0, 100)}…` : text);

const byErrno = { ENOENT: 'NOT_FOUND', ENOTDIR: 'NOT_FOUND', EACCES: 'PERMISSION_DENIED', EPERM: 'PERMISSION_DENIED', ELOOP: 'PERMISSION_DENIED' };

/** asToolError gives any error its category, as a tool.v1.ToolError. */
function asToolError(thrown) {
  const error = thrown instanceof Error ? thrown : new Error(`${thrown} was thrown`);
  const category = error.category ?? byErrno[error.code] ?? 'UNKNOWN';
  let details = error.details;
  if (category === 'UNKNOWN') {
    details = { ...details, cause: String(error.stack) };
  }
  return {
    category: `TOOL_ERROR_CATEGORY_${category}`,
    message: (error.message || error.name).toWellFormed(),
    retryable: false,
    ...(details && { details: toStruct(details) }),
  };
}

/** asStatus is the error of a unary RPC: a gRPC status whose details hold the ToolError. */
function asStatus(error) {
  const toolError = asToolError(error);
  const status = {
    code: code[toolError.category.replace('TOOL_ERROR_CATEGORY_', '')],
    message: toolError.message,
    details: [{
      type_url: 'type.googleapis.com/pluggableharness.tool.v1.ToolError',
      value: protos.toolError.serialize(toolError),
    }],
  };
  const metadata = new grpc.Metadata();
  metadata.set('grpc-status-details-bin', protos.status.serialize(status));
  return { code: status.code, details: status.message, metadata };
}

module.exports = { ToolFailure, quoted, asToolError, asStatus };
