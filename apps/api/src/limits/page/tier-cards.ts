import type { PublicLimit, PublicQuota, PublicTier } from '@quotaplane/contracts';
import { figure, perWindow, whoIsCounted } from '../in-words';
import { html, type Html } from './html';

/** A card a tier: the figures at a glance, each a link to its details. */
export const tierCards = (tiers: readonly PublicTier[]): Html => html`<div class="cards">${tiers.map(card)}</div>`;

const card = (tier: PublicTier): Html => html`<article class="card" aria-labelledby="_tier-${tier.slug}">
<h3 id="_tier-${tier.slug}">${tier.name}</h3>
<p class="audience">${tier.audience === 'anonymous' ? 'Callers without credentials' : tier.support === '' ? html`<code>${tier.slug}</code>` : tier.support}</p>
<ul>${tier.limits.map((limit) => html`<li>${rate(limit)}<span class="whom">${whom(limit, tier)} · <a href="#${limit.name}">${limit.name}</a></span></li>`)}
${tier.quotas.map((quota) => html`<li>${allowance(quota)}<span class="whom">${quota.allowance === null ? 'counted only' : OVERAGE_SHORT[quota.overage]} · <a href="#${quota.name}">${quota.name}</a></span></li>`)}
<li>${tier.concurrency === null ? html`<b>No cap</b> on calls under way` : html`<b>${figure(tier.concurrency)}</b> under way at once<span class="whom">your account as a whole · <a href="#in-flight">in-flight</a></span>`}</li></ul>
</article>`;

function rate({ limit, window, burst }: PublicLimit): Html {
  if (limit === null) return html`<b>Unlimited</b>`;
  if (limit === 0) return html`<b>Not allowed</b>`;
  return html`<b>${figure(limit)}</b> per ${perWindow(window)}${burst === null || burst === limit ? null : html`, ${figure(burst)} at once`}`;
}

const whom = (limit: PublicLimit, tier: PublicTier): string =>
  `${whoIsCounted(limit.scope, tier.audience)}${limit.endpointClass === undefined ? '' : `, ${limit.endpointClass} calls`}`;

const allowance = (quota: PublicQuota): Html =>
  quota.allowance === null ? html`<b>No cap</b> on ${quota.meter} a month` : html`<b>${figure(quota.allowance)}</b> ${quota.meter} a month`;

const OVERAGE_SHORT = { reject: 'then refused', throttle: 'then slower', bill: 'then billed' } as const;
