// Ends servers when their starter dies without ending them itself, also by kill -9.
import { spawn } from 'node:child_process';

// Reads "app PID" and "store PID SIGNAL" lines until standard input closes, which the system does when the starter dies.
// "done" means that the starter has ended them itself.
const SCRIPT = `
apps=''; stores=''; left=''
alive() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
while read -r kind pid signal; do
  case $kind in
    app) apps="$apps $pid" ;;
    store) stores="$stores $pid:$signal" ;;
    done) exit 0 ;;
  esac
done
for app in $apps; do kill -TERM $app 2>/dev/null; done
tries=0
while [ $tries -lt 100 ]; do
  left=''
  for app in $apps; do alive $app && left="$left $app"; done
  [ -z "$left" ] && break
  sleep 0.1; tries=$((tries + 1))
done
for app in $left; do kill -KILL $app 2>/dev/null; done
for store in $stores; do kill -CONT \${store%:*} 2>/dev/null; kill -\${store#*:} \${store%:*} 2>/dev/null; done
`;

/**
 * @typedef {object} Watchdog
 * @property {(pid: number) => void} addApp ended first, by SIGTERM, with 10 s to finish
 * @property {(pid: number, signal: NodeJS.Signals) => void} addStore ended when every app is gone
 * @property {() => void} dismiss the starter has ended all of them, or wants them to live
 */

/**
 * @returns {Watchdog} a shell that costs no processor time and under a megabyte
 */
export function startWatchdog() {
  const shell = spawn('sh', ['-c', SCRIPT], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const tell = (/** @type {string} */ line) => void shell.stdin.write(`${line}\n`);
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  /** @type {any} */ (shell.stdin).unref?.();
  return {
    addApp: (pid) => tell(`app ${pid}`),
    addStore: (pid, signal) => tell(`store ${pid} ${signal.slice(3)}`),
    dismiss: () => tell('done'),
  };
}
