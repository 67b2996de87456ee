import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The system's Chromium; undefined where there is none. `CHROMIUM_PATH` names another one. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM_PATH ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));
}

/** Finds Chromium, and as root on Debian installs it first. A failed installation only means that the stories are skipped. */
export function ensureChromium(): string | undefined {
  const found = findChromium();
  const isWorker = process.env.TEST_WORKER_INDEX !== undefined;
  if (found !== undefined || isWorker || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return found;
  try {
    console.log('Chromium is missing: installing it with apt-get.');
    aptGet('update', '-qq');
    aptGet('install', '-y', '-qq', '--no-install-recommends', 'chromium');
  } catch (error) {
    console.error(`Chromium cannot be installed: ${error instanceof Error ? error.message : String(error)}`);
  }
  return findChromium();
}

function aptGet(...args: string[]): void {
  execFileSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
}
