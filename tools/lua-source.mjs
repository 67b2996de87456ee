/**
 * Takes comments and indentation out of Lua source and keeps everything else, line for line.
 *
 * A line of the result is the same line of the file, so the line number in a Redis error still fits. Text in
 * quotes and in long brackets is never touched. Throws when a quote or bracket is not closed.
 * @param source Lua 5.1
 */
export function stripLua(source) {
  let result = '';
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at);
    const piece = longPiece(rest) ?? linePiece(rest);
    result += piece.kept;
    at += piece.length;
  }
  return result;
}

/** A block comment or a long string; the newlines of a comment stay. */
function longPiece(rest) {
  const opening = /^(--)?\[(=*)\[/.exec(rest);
  if (!opening) return null;
  const closing = `]${opening[2]}]`;
  const end = rest.indexOf(closing, opening[0].length);
  if (end === -1) throw new Error(`Lua: ${opening[0]} is not closed`);
  const text = rest.slice(0, end + closing.length);
  return { kept: opening[1] ? '\n'.repeat(text.split('\n').length - 1) : text, length: text.length };
}

function linePiece(rest) {
  const quoted = /^(?:'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*")/.exec(rest);
  if (quoted) return { kept: quoted[0], length: quoted[0].length };
  if (rest[0] === "'" || rest[0] === '"') throw new Error(`Lua: ${rest[0]} is not closed`);
  const comment = /^[ \t]*--(?!\[=*\[)[^\n]*/.exec(rest);
  if (comment) return { kept: '', length: comment[0].length };
  // The indentation after a newline goes with it, and so does what trails before one.
  const lineEnd = /^[ \t]*\r?\n[ \t]*/.exec(rest);
  if (lineEnd) return { kept: '\n', length: lineEnd[0].length };
  return { kept: rest[0], length: 1 };
}
