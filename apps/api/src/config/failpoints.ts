/**
 * The dangerous steps: places where a process that dies may leave one store ahead of another. Each is named for what was done last or comes next.
 * `QUOTAPLANE_FAILPOINT=name` kills the process at its first passing, `name:n` at its n-th.
 * @see /docs/ledger.md; promise P13
 */
export const FAILPOINTS = [
  'fold.before-commit', 'fold.after-commit', 'fold.before-ack', 'base.before-write', 'publish.after-redis',
  'records.after-ids', 'records.before-commit', 'records.after-commit', 'close.before-commit', 'close.after-commit',
  'quota.before-commit', 'webhook.before-send', 'webhook.after-send', 'reconcile.before-commit',
] as const;
export type FailpointName = (typeof FAILPOINTS)[number];

/** Set by `bundle` of tools/build.mjs: false in releases, so that nothing of this file is in them. Not defined where sources run unbundled (specs). */
declare const QUOTAPLANE_WITH_FAILPOINTS: boolean | undefined;

let passings = 0;

/** Kills this very process, as SIGKILL does, when the environment names this step: nothing is flushed, closed or rolled back by hand. Empty in a release. */
export function failpoint(name: FailpointName): void {
  if (typeof QUOTAPLANE_WITH_FAILPOINTS !== 'undefined' && !QUOTAPLANE_WITH_FAILPOINTS) return;
  const [wanted, nth = '1'] = (process.env['QUOTAPLANE_FAILPOINT'] ?? '').split(':');
  if (wanted !== name) return;
  passings += 1;
  if (passings !== Number(nth)) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal comes with the next turn of the event loop at the latest; not one more statement may run until then.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
}
