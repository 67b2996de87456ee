import { ERROR_CODES, GUARD_HEADERS, LEGACY_HEADERS } from '@quotaplane/contracts';
import { serializeItem, serializeList, type Item } from 'structured-headers';
import type { CallPlan } from '../decide/call-plan';
import { throttleName } from '../decide/counter-names';
import type { GuardDecision } from '../decide/guard-decision';
import { smallestShare, type GuardReport } from '../decide/reports';

export interface FieldOptions {
  /** Also the older X- names. */
  readonly legacyHeaders: boolean;
}
export type ResponseField = readonly [name: string, value: string];

/** Largest integer of a structured field (RFC 9651, 3.3.1): 15 digits. */
const SF_INTEGER_MAX = 999_999_999_999_999;
const sfInteger = (value: number): number => Math.min(value, SF_INTEGER_MAX);
/** Whole seconds, rounded up: never before the instant that is meant. */
export const secondsUp = (ms: number): number => Math.ceil(ms / 1000);
/** Whole seconds of a Retry-After, 1 or more. */
export const retryAfterSeconds = (ms: number): number => Math.max(1, secondsUp(ms));

/**
 * The fields of a guarded answer, whatever its status will be.
 * @see docs: response contract; draft-ietf-httpapi-ratelimit-headers-11; RFC 9651
 */
export function fieldsOf(decision: GuardDecision, options: FieldOptions): ResponseField[] {
  const fields: ResponseField[] = [];
  const policy = policyField(decision);
  if (policy) fields.push([GUARD_HEADERS.policy, policy]);
  const shown = shownOf(decision.limits);
  const time = timeOf(decision);
  if (shown.length > 0) fields.push([GUARD_HEADERS.state, stateField(shown, decision.limits, time)]);
  const tightest = smallestShare(decision.limits) ?? decision.limits.find(isNoSlot);
  if (tightest) {
    const figures = [String(tightest.capacity), String(Math.max(0, tightest.remaining)), String(secondsUntil(tightest, tightest.resetAfterMs, time))] as const;
    fields.push([GUARD_HEADERS.limit, figures[0]], [GUARD_HEADERS.remaining, figures[1]], [GUARD_HEADERS.reset, figures[2]]);
    if (options.legacyHeaders) fields.push([LEGACY_HEADERS.limit, figures[0]], [LEGACY_HEADERS.remaining, figures[1]], [LEGACY_HEADERS.reset, figures[2]]);
  }
  if (decision.source !== 'store') fields.push([GUARD_HEADERS.source, decision.source]);
  if (decision.retryAfterMs !== undefined) fields.push([GUARD_HEADERS.retryAfter, String(retryAfterSeconds(decision.retryAfterMs))]);
  if (decision.code !== undefined && ERROR_CODES[decision.code].status === 429) fields.push([GUARD_HEADERS.cacheControl, 'no-store']);
  return fields;
}

const isViolated = (report: GuardReport): boolean => report.isViolated;
const isNoSlot = (report: GuardReport): boolean => report.kind !== 'concurrency';

/** Of a denial the limits that deny; all where none does. */
function shownOf(limits: readonly GuardReport[]): readonly GuardReport[] {
  return limits.some(isViolated) ? limits.filter(isViolated) : limits;
}

/** When the figures leave, against the instant that they were judged at. */
interface FieldTime {
  /** The answer waits for its turn in a queue before it goes. */
  readonly laterMs: number;
  /** Of the second in which it goes, what has passed by store time. */
  readonly intoSecondMs: number;
}

function timeOf({ waitMs: laterMs = 0, nowMs = 0 }: GuardDecision): FieldTime {
  return { laterMs, intoSecondMs: (nowMs + laterMs) % 1000 };
}

/**
 * Whole seconds from an answer to an instant, rounded up. Where that instant is one for all calls of a window they are counted from the beginning of
 * the answer's second, which is what its Date says: every answer of the window then names the same second (P04).
 */
function secondsUntil(report: GuardReport, afterMs: number, { laterMs, intoSecondMs }: FieldTime): number {
  const leftMs = Math.max(0, afterMs - laterMs);
  return secondsUp(leftMs > 0 && report.hasFixedReset ? leftMs + intoSecondMs : leftMs);
}

/** Every field of {@link fieldsOf} that a page of another origin may want to read. */
export function exposedFields(options: FieldOptions): string {
  const { policy, state, limit, remaining, reset, retryAfter, source } = GUARD_HEADERS;
  return [policy, state, limit, remaining, reset, retryAfter, source, ...(options.legacyHeaders ? Object.values(LEGACY_HEADERS) : [])].join(', ');
}

/** No number of this very call is in it, so that it stays constant while the policy does and is written once per plan. */
function policyField({ plan, limits, unasked }: GuardDecision): string {
  if (!plan) return '';
  const named = unasked ?? limits;
  const last = plan.lastPolicyField;
  if (last && areNamed(named, last.names)) return last.field;
  const names = named.map((report) => report.name);
  const id = names.join(' ');
  let field = plan.policyFields.get(id);
  if (field === undefined) plan.policyFields.set(id, (field = serializePolicy(plan, named)));
  plan.lastPolicyField = { names, field };
  return field;
}

/** Nearly all calls of a plan have the same limits: comparing them costs less than gluing their names together. */
function areNamed(reports: readonly GuardReport[], names: readonly string[]): boolean {
  if (reports.length !== names.length) return false;
  for (let index = 0; index < names.length; index += 1) if (reports[index]?.name !== names[index]) return false;
  return true;
}

function serializePolicy(plan: CallPlan, limits: readonly GuardReport[]): string {
  const items = limits
    .filter((report) => !isLane(plan, report))
    .map((report): Item => [report.name, policyParameters(report)]);
  for (const { quota, name } of plan.quotas) {
    // Listed from the first call on, so that the field does not change when the allowance runs out.
    const lane = quota.throttle;
    if (lane && quota.allowance !== null) items.push([throttleName(name), new Map([['q', sfInteger(lane.limit)], ['w', windowSeconds(lane.windowMs)]])]);
  }
  return serializeList(items);
}

function isLane(plan: CallPlan, report: GuardReport): boolean {
  return report.kind === 'rate' && plan.quotas.some((quota) => throttleName(quota.name) === report.name);
}

function policyParameters(report: GuardReport): Map<string, number | string> {
  if (report.kind === 'concurrency') return new Map<string, number | string>([['q', sfInteger(report.limit)], ['qu', 'concurrent-requests']]);
  const parameters = new Map([['q', sfInteger(report.limit)], ['w', windowSeconds(report.windowMs)]]);
  if (report.capacity !== report.limit) parameters.set('qp-burst', sfInteger(report.capacity));
  return parameters;
}

const windowSeconds = (windowMs: number): number => sfInteger(Math.max(1, secondsUp(windowMs)));

/** Written by hand but for the name: integers and base64 need no escaping, and this runs on every call. */
function stateField(shown: readonly GuardReport[], all: readonly GuardReport[], time: FieldTime): string {
  let field = '';
  for (const report of shown) {
    const available = report.kind === 'quota' ? cappedQuota(report, all) : report.remaining;
    if (field !== '') field += ', ';
    field += `${nameItem(report.name)};r=${sfInteger(Math.max(0, available))};t=${sfInteger(secondsUntil(report, report.moreAfterMs, time))};pk=:${report.partition}:;qp-cost=${sfInteger(report.cost)}`;
  }
  return field;
}

const names = new Map<string, string>();
/** Limit names are bounded by the tiers' own, but a service that lives for years must not collect them. */
const NAMES_MAX = 1000;

function nameItem(name: string): string {
  let item = names.get(name);
  if (item === undefined) {
    if (names.size >= NAMES_MAX) names.clear();
    names.set(name, (item = serializeItem(name)));
  }
  return item;
}

/** What is left of the period, but no more than the short limits let through in it: the last seconds of a month invite no flood. */
function cappedQuota(quota: GuardReport, all: readonly GuardReport[]): number {
  let available = quota.remaining;
  for (const rate of all) {
    if (rate.kind !== 'rate' || rate.limit === 0) continue;
    const refill = Math.floor((quota.moreAfterMs / rate.windowMs) * rate.limit);
    available = Math.min(available, rate.remaining + refill);
  }
  return available;
}
