// The order in which everything that start has started ends: apps first, then stores, then start itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { startWatchdog } from './stores/index.mjs';

// npm passes Ctrl-C on to a process that the terminal has signalled already: one press arrives twice.
const SAME_PRESS_MS = 1_000;
// Long enough for a person, or a test, to see the guards decide by their fail modes.
const REOPEN_AFTER_MS = 2_000;
const PARENT_LOOK_MS = 500;

/** @typedef {import('./bootstrap-apps.mjs').App} App */
/** @typedef {import('./bootstrap-stores.mjs').Store} Store */

export class Lifetime {
  /** @type {App[]} */
  #apps = [];
  /** @type {Promise<Store>[]} */
  #stores = [];
  /** @type {(() => void)[]} */
  #lastSteps = [];
  #ending = new AbortController();
  #watchdog = startWatchdog();
  #firstSignalAt = 0;

  /** Aborted as soon as the end has begun. */
  get signal() {
    return this.#ending.signal;
  }

  /** Ends with code 0 on the first signal, at once on a second one. */
  listenForSignals() {
    for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(name, () => this.#onSignal(name));
    if (process.env.npm_lifecycle_event !== undefined) this.#endWithParent();
    // A closed terminal or pipe must not keep the rest from being stopped.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  }

  /** npm's shell passes no signal on: whoever ends npm leaves its children behind, which see another parent then. */
  #endWithParent() {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      this.#onSignal('SIGTERM');
    }, PARENT_LOOK_MS);
    timer.unref();
  }

  /**
   * A store that dies is opened again where it can be; else everything is stopped.
   * @param {string} name
   * @param {Promise<Store>} opening
   * @param {NodeJS.Signals} stopSignal
   * @param {(server: import('./bootstrap-stores.mjs').EmbeddedServer) => void} [onReopened]
   */
  addStore(name, opening, stopSignal, onReopened) {
    this.#stores.push(opening);
    const guard = async () => {
      const store = await opening;
      while (store.server) {
        this.#watchdog.addStore(store.server.pid, stopSignal);
        await store.server.exited;
        if (this.signal.aborted) return;
        if (!store.reopen) return void (await this.fail(`${name} ended unexpectedly; everything is stopped.`));
        console.error(`${name} ended unexpectedly. It is started again; until then guards decide by their fail modes.`);
        await sleep(REOPEN_AFTER_MS, undefined, { signal: this.signal });
        store.server = await store.reopen();
        console.error(store.server ? `${name} is back.` : `Another ${name} answers at its address; that one is used.`);
        if (store.server) onReopened?.(store.server);
      }
    };
    guard().catch((error) => {
      // A store that does not open at first is reported by whoever waits for it.
      void opening.then(() => this.fail(`${name} ended and cannot be started again: ${error instanceof Error ? error.message : String(error)}`), () => undefined);
    });
  }

  /** @param {App} app */
  addApp(app) {
    this.#apps.push(app);
    this.#watchdog.addApp(app.pid);
    void app.ended.then((how) => this.fail(`${how} Everything is stopped.`));
  }

  /** @param {() => void} step done when all else has ended */
  addLastStep(step) {
    this.#lastSteps.push(step);
  }

  /**
   * Says what went wrong, stops everything and exits with code 1. Says nothing once the end has begun.
   * @param {string} message
   */
  async fail(message) {
    if (this.signal.aborted) return;
    console.error(message);
    await this.#end(1);
  }

  /** @param {NodeJS.Signals} name */
  #onSignal(name) {
    const now = performance.now();
    if (this.#firstSignalAt === 0) {
      this.#firstSignalAt = now;
      console.log(`\nStopping (${name}); once more to force.`);
      void this.#end(0);
    } else if (now - this.#firstSignalAt > SAME_PRESS_MS) {
      void this.#force();
    }
  }

  /** @param {number} exitCode */
  async #end(exitCode) {
    if (this.signal.aborted) return;
    this.#ending.abort();
    await Promise.all(this.#apps.map((app) => app.stop()));
    await this.#eachServer((server) => server.stop());
    this.#watchdog.dismiss();
    for (const step of this.#lastSteps) step();
    if (exitCode === 0) console.log('Stopped.');
    process.exit(exitCode);
  }

  /** The stores are only asked to stop, so that they keep what they have; nobody waits for them. */
  async #force() {
    for (const app of this.#apps) app.kill();
    await this.#eachServer(async (server) => void server.stop());
    for (const step of this.#lastSteps) step();
    process.exit(1);
  }

  /** @param {(server: NonNullable<Store['server']>) => Promise<void>} work */
  async #eachServer(work) {
    const opened = await Promise.allSettled(this.#stores);
    const servers = opened.flatMap((result) => (result.status === 'fulfilled' && result.value.server ? [result.value.server] : []));
    await Promise.all(servers.map(work));
  }
}
