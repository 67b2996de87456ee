import type { PublicLimit, PublicLimits, PublicQuota, PublicTier } from '@quotaplane/contracts';
import { figure, listed, particulars, perWindow, whoIsCounted } from '../in-words';
import { html, type Content, type Html } from './html';
import { tableOf } from './parts';

interface OnTier<T> {
  readonly tier: PublicTier;
  readonly entry: T;
}

/** One section a name, for that is what a denial names: its figures on every tier that has it. */
export function limitSections({ tiers, algorithms }: PublicLimits): Html {
  const names = byName(tiers, ({ limits }) => limits);
  const capped = tiers.filter(({ concurrency }) => concurrency !== null);
  return html`<section aria-labelledby="_limits">
<h2 id="_limits">Limits</h2>
<p>All limits that apply to a call are judged together: it passes when all of them have room for its <a href="#_costs">cost</a>, else it uses nothing.</p>
${[...names].map(([name, members]) => limitSection(name, members))}
${capped.length === 0 ? null : inFlightSection(capped)}
<h3 id="_algorithms">How they count</h3>
<dl class="terms">${algorithms.map(({ algorithm, meaning, worstCase }) => html`<div><dt><code>${algorithm}</code></dt><dd>${meaning} <span class="note">Most in any window: ${worstCase}.</span></dd></div>`)}</dl>
</section>`;
}

function limitSection(name: string, members: readonly OnTier<PublicLimit>[]): Html {
  const rows = members.map(({ tier, entry }) => [tier.name, rateOf(entry), entry.burst === null ? '–' : unitsOf(entry.burst), worstOf(entry), html`<a href="#_algorithms">${entry.algorithm}</a>`]);
  return html`<section class="limit" aria-labelledby="${name}">
<h3 id="${name}"><code>${name}</code></h3>
${notesOf(members)}
${tableOf(`${name} by tier`, ['Tier', 'Units', 'At once', 'Most in any window', 'Algorithm'], rows)}
</section>`;
}

/** Whom it counts and what is special about it; said once where all tiers agree. */
function notesOf(members: readonly OnTier<PublicLimit>[]): Content {
  const groups = new Map<string, string[]>();
  for (const { tier, entry } of members) {
    const text = [`Counts ${whoIsCounted(entry.scope, tier.audience)}.`, ...particulars(entry)].join(' ');
    groups.set(text, [...(groups.get(text) ?? []), tier.name]);
  }
  return [...groups].map(([text, names]) => html`<p>${groups.size === 1 ? null : html`<b>${listed(names)}:</b> `}${text}</p>`);
}

const inFlightSection = (tiers: readonly PublicTier[]): Html => html`<section class="limit" aria-labelledby="in-flight">
<h3 id="in-flight"><code>in-flight</code></h3>
<p>Counts the calls of your account that are under way at the same moment, streams among them. A call gives its place back when its answer has ended or was given up. A denial's Retry-After is a hint, for nobody knows when a call will end.</p>
${tableOf('in-flight by tier', ['Tier', 'Calls under way'], tiers.map(({ name, concurrency }) => [name, unitsOf(concurrency)]))}
</section>`;

const OVERAGE_LONG = {
  reject: 'refused with quota_exceeded until the next period',
  throttle: 'allowed at a slower pace until the next period',
  bill: 'allowed; the units past the allowance are billed',
} as const;

export function quotaSections({ tiers, period }: PublicLimits): Html {
  const names = byName(tiers, ({ quotas }) => quotas);
  return html`<section aria-labelledby="_quotas">
<h2 id="_quotas">Quotas</h2>
<ul class="advice">${period.map((sentence) => html`<li>${sentence}</li>`)}</ul>
${[...names].map(([name, members]) => quotaSection(name, members))}
</section>`;
}

function quotaSection(name: string, members: readonly OnTier<PublicQuota>[]): Html {
  const lanes = members.flatMap(({ tier, entry: { throttle } }) => (throttle ? [{ tier, throttle }] : []));
  const rows = members.map(({ tier, entry }) => [tier.name, unitsOf(entry.allowance), entry.allowance === null ? '–' : OVERAGE_LONG[entry.overage]]);
  return html`<section class="limit" aria-labelledby="${name}">
<h3 id="${name}"><code>${name}</code></h3>
<p>Units of the meter ${members[0]?.entry.meter} in one period.</p>
${tableOf(`${name} by tier`, ['Tier', 'Allowance', 'Past it, calls are'], rows)}
${members.flatMap(({ tier, entry }) => beyondAllowance(entry).map((sentence) => html`<p>${tier.name}: ${sentence}</p>`))}
${lanes.length === 0 ? null : html`<h4 id="${name}-throttle"><code>${name}-throttle</code></h4>
<p>The slower pace past the allowance, a <a href="#_algorithms">token-bucket</a> of your account.</p>
${tableOf(`${name}-throttle by tier`, ['Tier', 'Units', 'Most in any window'], lanes.map(({ tier, throttle }) => [tier.name, `${figure(throttle.limit)} per ${perWindow(throttle.window)}`, unitsOf(throttle.worstCaseUnits)]))}`}
</section>`;
}

/** What else is agreed on an allowance, one sentence each. */
const beyondAllowance = ({ ceiling, carry }: PublicQuota): string[] => [
  ...(ceiling === undefined ? [] : [`from ${figure(ceiling)} units on every call is refused with quota_exceeded until the next period.`]),
  ...(carry === undefined ? [] : [`up to ${figure(carry)} units that are not used go over into the next period.`]),
];

/** Entries by name, in the order in which the tiers name them first. */
function byName<T extends { readonly name: string }>(tiers: readonly PublicTier[], entriesOf: (tier: PublicTier) => readonly T[]): Map<string, OnTier<T>[]> {
  const names = new Map<string, OnTier<T>[]>();
  for (const tier of tiers) for (const entry of entriesOf(tier)) names.set(entry.name, [...(names.get(entry.name) ?? []), { tier, entry }]);
  return names;
}

const unitsOf = (units: number | null): string => (units === null ? 'unlimited' : figure(units));
const rateOf = ({ limit, window }: PublicLimit): string => (limit === null ? 'unlimited' : `${figure(limit)} per ${perWindow(window)}`);
const worstOf = ({ worstCaseUnits, window }: PublicLimit): string => (worstCaseUnits === null ? 'unlimited' : `${figure(worstCaseUnits)} in ${window}`);
