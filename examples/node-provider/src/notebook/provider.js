'use strict';
// The provider: a folder of Markdown notes.

const fs = require('node:fs');
const path = require('node:path');
const { attribute, badField } = require('../plugin/config.js');
const { code } = require('../plugin/render.js');
const { fits } = require('../plugin/schema.js');
const { provider: name, version } = require('../../package.json');
const { Notes } = require('./notes.js');

const tools = [require('./list_notes.js'), require('./edit_note.js'), require('./run.js')];
const commands = [require('./outline.js')];

module.exports = {
  name,
  version,
  source: 'github.com/agentco/agent//provider-notebook',
  tools,
  commands,

  config: [
    attribute('folder', 'STRING', 'Folder of the notes; a relative one is below the root of the project.', { required: true }),
    attribute('seal_key', 'STRING', 'Secret of at least 16 characters that the seals of list_notes are made with.', { sensitive: true }),
  ],

  /** configure refuses whatever would fail later, and gives what calls find in call.config. */
  configure({ folder, seal_key: sealKey }) {
    // A provider is started in the root of the project.
    const absolute = path.resolve(folder);
    if (!fs.statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) {
      throw badField('folder', `${absolute} is no directory: create it, or name another`);
    }
    if (sealKey !== undefined && sealKey.length < 16) {
      throw badField('seal_key', 'it must have at least 16 characters');
    }
    return { notes: new Notes(fs.realpathSync(absolute), sealKey) };
  },

  /** render shows a payload. It comes back without the name of its operation, so its members tell which it was. */
  render(payload) {
    const operation = [...tools, ...commands].find((o) => fits(o.schema.output_schema ?? o.result, payload));
    return operation ? operation.render(payload) : code(JSON.stringify(payload, null, 2), 'json');
  },
};
