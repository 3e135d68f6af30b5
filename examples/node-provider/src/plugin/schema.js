'use strict';
// The schema subset of the protocol: how to write one, and how to hold arguments to it. A kernel checks arguments too,
// but a provider cannot know that it is this kernel that calls.

const { ToolFailure, quoted } = require('./errors.js');

const node = (type, description, more) => ({ type: `SCHEMA_TYPE_${type}`, description, ...more });
const string = (description, ...values) => node('STRING', description, { enum_values: values });
const number = (description) => node('NUMBER', description);
const boolean = (description) => node('BOOLEAN', description);
const array = (items, description) => node('ARRAY', description, { items });
const object = (properties, required = Object.keys(properties), description = '') => node('OBJECT', description, { properties, required });

const typeOf = (value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** check throws an INVALID_ARGUMENTS failure that names the first argument that does not fit. */
function check(schema, value, path = '') {
  const fail = (problem) => {
    throw new ToolFailure('INVALID_ARGUMENTS', `${path || 'arguments'}: ${problem}`, { argument: path });
  };
  const expected = schema.type.replace('SCHEMA_TYPE_', '').toLowerCase();
  if (typeOf(value) !== expected) {
    fail(`expected ${expected}, got ${typeOf(value)}`);
  }
  switch (expected) {
    case 'number':
      if (!Number.isFinite(value)) {
        fail(`${value} is no number that JSON has`);
      }
      break;
    case 'string':
      if (schema.enum_values.length > 0 && !schema.enum_values.includes(value)) {
        fail(`${quoted(value)} is none of ${schema.enum_values.join(', ')}`);
      }
      break;
    case 'array':
      value.forEach((element, i) => check(schema.items, element, `${path}[${i}]`));
      break;
    case 'object':
      checkMembers(schema, value, path);
  }
}

function checkMembers({ properties, required }, value, path) {
  const within = (name) => (path ? `${path}.${name}` : name);
  for (const name of required) {
    if (!(name in value)) {
      throw new ToolFailure('INVALID_ARGUMENTS', `${within(name)}: is required`, { argument: within(name) });
    }
  }
  for (const [name, member] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) {
      const message = `${quoted(within(name))}: there is no such argument; there is ${Object.keys(properties).join(', ') || 'none'}`;
      throw new ToolFailure('INVALID_ARGUMENTS', message, { argument: within(name) });
    }
    check(properties[name], member, within(name));
  }
}

/** fits reports whether a value is as a schema says. */
function fits(schema, value) {
  try {
    check(schema, value);
    return true;
  } catch {
    return false;
  }
}

module.exports = { string, number, boolean, array, object, check, fits };
