import { Logger } from '@nestjs/common';
import { readSettings, SettingError } from './settings';
import { startEcho } from './start-echo';

/** After this long the process ends whatever is still under way, in ms. */
const STOP_MAX_MS = 9500;

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const echo = await startEcho(settings);
  const logger = new Logger('Echo');
  logger.log(`echo listens on http://127.0.0.1:${echo.port}`);
  const end = (): void => {
    setTimeout(() => process.exit(1), STOP_MAX_MS).unref();
    void echo.stop().then(() => process.exit(0));
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

/** One line that says what to do; a stack helps nobody who mistyped a port. */
function lineOf(error: unknown): string {
  if (error instanceof SettingError) return error.message;
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') return `echo: port ${port} is taken; set ECHO_PORT to a free one`;
  if (code === 'EACCES') return `echo: port ${port} may not be opened by this user; set ECHO_PORT to one above 1023`;
  return `echo: ${error instanceof Error ? error.message : String(error)}`;
}

main().catch((error: unknown) => {
  process.stderr.write(`${lineOf(error)}\n`);
  process.exit(1);
});
