'use strict';
// Nodes of a RenderTree: what a thing is, never how it looks.

const text = (content, style = 'NORMAL') => ({ text: { content: content.toWellFormed(), style: `TEXT_STYLE_${style}` } });
const code = (content, language) => ({ code_block: { content: content.toWellFormed(), ...(language && { language }) } });
const table = (headers, rows) => ({ table: { headers, rows: rows.map((cells) => ({ cells })) } });
const list = (items) => ({ list: { items } });
const group = (...children) => ({ group: { children } });

const context = 3;
const lineOp = (op) => (line) => ({ op: `DIFF_LINE_OP_${op}`, text: line.replace(/\r$/, '') });

// A text is its lines; one that ends with a newline does not have an empty line after it.
const linesOf = (content) => (content === '' ? [] : content.replace(/\n$/, '').split('\n'));

/** diff is the one hunk between two texts, with three lines of context; of equal texts it has none. */
function diff(before, after) {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const shortest = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shortest && old[head] === fresh[head]) {
    head++;
  }
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === fresh.at(-1 - tail)) {
    tail++;
  }
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  if (removed.length + added.length === 0) {
    return { diff: { hunks: [] } };
  }
  const above = old.slice(Math.max(0, head - context), head);
  const below = old.slice(old.length - tail, old.length - tail + context);
  const start = head - above.length;
  const [oldLines, newLines] = [removed, added].map((own) => above.length + own.length + below.length);
  return {
    diff: {
      hunks: [{
        // By convention a range without lines starts at the line it comes after.
        old_start: oldLines ? start + 1 : start, old_lines: oldLines,
        new_start: newLines ? start + 1 : start, new_lines: newLines,
        lines: [
          ...above.map(lineOp('CONTEXT')), ...removed.map(lineOp('REMOVE')),
          ...added.map(lineOp('ADD')), ...below.map(lineOp('CONTEXT')),
        ],
      }],
    },
  };
}

module.exports = { text, code, table, list, group, diff };
