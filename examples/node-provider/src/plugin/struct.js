'use strict';
// google.protobuf.Struct to and from plain objects. Protobuf.js has its messages, not their meaning.

function toStruct(object) {
  const fields = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined) {
      fields[name] = toValue(value);
    }
  }
  return { fields };
}

function toValue(value) {
  switch (typeof value) {
    case 'number':
      return { numberValue: value };
    case 'string':
      // A lone half of a surrogate pair has no UTF-8, and would fail the whole message.
      return { stringValue: value.toWellFormed() };
    case 'boolean':
      return { boolValue: value };
  }
  if (value === null) {
    return { nullValue: 'NULL_VALUE' };
  }
  return Array.isArray(value) ? { listValue: { values: value.map(toValue) } } : { structValue: toStruct(value) };
}

function fromStruct(struct) {
  // Without a prototype, so that a key such as __proto__ is a key like any other.
  const object = Object.create(null);
  for (const [name, value] of Object.entries(struct?.fields ?? {})) {
    object[name] = fromValue(value);
  }
  return object;
}

function fromValue(value) {
  switch (value.kind) {
    case 'structValue':
      return fromStruct(value.structValue);
    case 'listValue':
      return (value.listValue.values ?? []).map(fromValue);
    case 'nullValue':
    case undefined:
      return null;
    default:
      return value[value.kind];
  }
}

module.exports = { toStruct, fromStruct };
