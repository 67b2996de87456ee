// Ports for servers that listen on this machine only.
import { createServer } from 'node:net';

const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;

/**
 * Says whether a server could listen on the port now. Another process may still take it before the caller does.
 * @param {number} port
 * @param {string} [host]
 * @returns {Promise<boolean>}
 */
export function isPortFree(port, host = '127.0.0.1') {
  return new Promise((resolve) => {
    const server = createServer();
    // An address family that this machine lacks takes no port away.
    server.once('error', (/** @type {NodeJS.ErrnoException} */ { code }) => resolve(code !== 'EADDRINUSE' && code !== 'EACCES'));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A random port that was free a moment ago.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    // Below the ephemeral range, or an outgoing connection may sit on the port before the server does.
    const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT));
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port was found between ${LOWEST_PORT} and ${HIGHEST_PORT}`);
}

/**
 * Reads a port from text such as an environment variable.
 * @param {string} name the variable's name, for the message
 * @param {string | undefined} text
 * @param {number} fallback used when the variable is unset or empty
 * @returns {number} 0 to 65535
 * @throws {Error} the text is no such number
 */
export function parsePort(name, text, fallback) {
  if (text === undefined || text.trim() === '') return fallback;
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(port >= 0 && port <= 65_535)) throw new Error(`${name} must be a whole number from 0 to 65535, not "${text}".`);
  return port;
}
