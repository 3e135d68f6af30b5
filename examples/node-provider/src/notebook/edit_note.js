'use strict';

const { ToolFailure } = require('../plugin/errors.js');
const { diff, group, text } = require('../plugin/render.js');
const { number, object, string } = require('../plugin/schema.js');

// change is what Preview shows and Invoke does. Both come here, so they refuse the same calls.
function change({ config: { notes }, arguments: { name, old_text: old, new_text: fresh } }) {
  const before = notes.read(name);
  if (old === '') {
    throw new ToolFailure('INVALID_ARGUMENTS', 'old_text: it must not be empty', { argument: 'old_text' });
  }
  const [head, ...rest] = before.split(old);
  if (rest.length === 0) {
    throw new ToolFailure('NOT_FOUND', `old_text is not in ${name}: read the note and copy the text exactly`);
  }
  if (rest.length > 1) {
    throw new ToolFailure('INVALID_ARGUMENTS',
      `old_text is in ${name} ${rest.length} times: give more of the text around it`, { argument: 'old_text', matches: rest.length });
  }
  const after = head + fresh + rest[0];
  return { before, after, bytes: notes.checkSize(name, after), line: head.split('\n').length };
}

/** edit_note changes a file: it is planned, shown as a diff, and asked about. */
module.exports = {
  schema: {
    name: 'edit_note',
    kind: 'TOOL_KIND_RESOURCE',
    risk: 'RISK_CLASS_MODERATE',
    description: 'Replace a text that occurs exactly once in a note.',
    input_schema: object({
      name: string('File name of the note.'),
      old_text: string('Text to replace, exactly as it is in the note.'),
      new_text: string('Text to put in its place.'),
    }),
    output_schema: object({
      name: string('File name of the note.'),
      line: number('Line the change begins on, counted from 1.'),
      bytes: number('Size of the note now.'),
    }),
    concurrency: { safe: true, key_fields: ['name'] },
  },

  preview(call) {
    const { before, after } = change(call);
    return group(text(call.arguments.name, 'BOLD'), diff(before, after));
  },

  // From the reading to the renaming nothing is awaited, so two edits of one note never lose one.
  invoke(call) {
    const { after, bytes, line } = change(call);
    const { name } = call.arguments;
    call.config.notes.write(name, after);
    call.log('INFO', 'edited', { name, line });
    return { name, line, bytes };
  },

  render: ({ name, line, bytes }) => text(`changed ${name} at line ${line}; it has ${bytes} bytes now`, 'SUCCESS'),
};
