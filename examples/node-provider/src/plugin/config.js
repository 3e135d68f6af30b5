'use strict';
// The provider block: how an attribute is described, and how what the kernel sends is held to the description.

const { ToolFailure } = require('./errors.js');

const attribute = (name, type, description, more) => ({ name, type: `ATTR_TYPE_${type}`, description, ...more });

const isString = (v) => typeof v === 'string';
const isNumber = (v) => typeof v === 'number';
const fits = {
  ATTR_TYPE_STRING: isString,
  ATTR_TYPE_NUMBER: isNumber,
  ATTR_TYPE_BOOL: (v) => typeof v === 'boolean',
  ATTR_TYPE_LIST_STRING: (v) => Array.isArray(v) && v.every(isString),
  ATTR_TYPE_LIST_NUMBER: (v) => Array.isArray(v) && v.every(isNumber),
  ATTR_TYPE_MAP_STRING: (v) => v !== null && typeof v === 'object' && !Array.isArray(v) && Object.values(v).every(isString),
};

/** badField refuses a configuration. It names the field and never says its value, which may be a secret. */
const badField = (name, problem) => new ToolFailure('INVALID_ARGUMENTS', `${name}: ${problem}`, { field: name });

/** decode checks a block against its attributes and fills in the defaults. */
function decode(attributes, block) {
  const settings = {};
  for (const a of attributes) {
    const value = block[a.name] ?? null;
    if (value !== null) {
      if (!fits[a.type](value)) {
        throw badField(a.name, `is no ${a.type.replace('ATTR_TYPE_', '').toLowerCase()}`);
      }
      settings[a.name] = value;
    } else if (a.required) {
      throw badField(a.name, 'is required');
    } else if (a.default_json) {
      settings[a.name] = JSON.parse(a.default_json);
    }
  }
  for (const name of Object.keys(block)) {
    if (!attributes.some((a) => a.name === name)) {
      throw badField(name, 'there is no such attribute');
    }
  }
  return settings;
}

module.exports = { attribute, badField, decode };
