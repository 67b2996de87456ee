/** Arguments as RESP sends them: bulk strings, one after the other. @see https://redis.io/docs/latest/develop/reference/protocol-spec/ */
export const wireText = (...args: readonly (string | number)[]): string => {
  let text = '';
  for (const arg of args) {
    const shown = String(arg);
    text += `$${Buffer.byteLength(shown)}\r\n${shown}\r\n`;
  }
  return text;
};
