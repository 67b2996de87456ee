import type { PublicLimits } from '@quotaplane/contracts';
import { COPYABLE_CLIENT } from '../copyable-client';
import { html, type Html } from './html';
import { limitSections, quotaSections } from './limit-sections';
import { prose, tableOf } from './parts';
import { tierCards } from './tier-cards';
import { costSection } from './cost-section';

/** Ids of the page's own sections carry `_`, which no limit's name can: `#per-minute` is always the limit. */
const SECTIONS = [
  ['_tiers', 'Tiers'], ['_limits', 'Limits'], ['_quotas', 'Quotas'], ['_costs', 'Costs'], ['_fields', 'Response fields'], ['_denials', 'Denials'], ['_waiting', 'Waiting well'],
] as const;

const DENIAL_EXAMPLE = `HTTP/1.1 429 Too Many Requests
Content-Type: application/problem+json
Retry-After: 18
RateLimit-Policy: "search";q=200;w=3600
RateLimit: "search";r=9;t=18;pk=:4vJt…:;qp-cost=10
Cache-Control: no-store

{
  "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
  "title": "Quota exceeded", "status": 429, "code": "rate_limited",
  "detail": "search: 9 units available, this request needs 10; try again in 18 seconds",
  "policy": "search", "scope": "tenant", "limit": 200, "reset": 3438,
  "violated-policies": ["search"], "retryAfter": 18,
  "docs": "…/limits#search", "requestId": "…"
}`;

/** The public page: what /limits.json holds, in words. No script and no outside asset; its style is a file of its own. */
export function limitsPage(limits: PublicLimits): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Rate limits and quotas of this API, how it tells them and how to wait.">
<title>Limits and quotas</title>
<link rel="stylesheet" href="/limits/limits.css">
</head>
<body>
<a class="skip" href="#_main">Skip to the limits</a>
<header>
<h1>Limits and quotas</h1>
<p class="lead">What this API allows, how every answer tells you where you stand, and how to wait when you have to. Written from the rules that are enforced at this moment; for programs: <a href="/limits.json">limits.json</a>.</p>
<nav aria-label="On this page"><ul>${SECTIONS.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
</header>
<main id="_main">
${tierSection(limits)}
${limitSections(limits)}
${quotaSections(limits)}
${costSection(limits)}
${fieldSection(limits)}
${denialSection(limits)}
${waitingSection(limits)}
</main>
</body>
</html>
`.text;
}

const tierSection = ({ tiers }: PublicLimits): Html => html`<section aria-labelledby="_tiers">
<h2 id="_tiers">Tiers</h2>
<p>Your account may have been granted figures of its own. What holds for you is in the <a href="#_fields">response fields</a> of every answer.</p>
${tiers.length > 0 ? tierCards(tiers) : html`<p class="empty">No tier has been published yet. Until then calls are not limited here.</p>`}
</section>`;

const fieldSection = ({ fields }: PublicLimits): Html => html`<section aria-labelledby="_fields">
<h2 id="_fields">Response fields</h2>
<p>Every answer carries them, whatever its status. They follow <a href="https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/">draft-ietf-httpapi-ratelimit-headers</a>.</p>
<dl class="terms">${fields.map(({ name, meaning }) => html`<div><dt><code>${name}</code></dt><dd>${meaning}</dd></div>`)}</dl>
</section>`;

const WAITS_IN_WORDS = { exact: 'Wait as told', hint: 'Told as a hint', useless: 'Cannot help' } as const;

const denialSection = ({ denials }: PublicLimits): Html => html`<section aria-labelledby="_denials">
<h2 id="_denials">Denials</h2>
<p>A denied call uses nothing: neither the limit that denied it nor any other. Its body is <code>application/problem+json</code> and names the limit, which is also the anchor on this page.</p>
${tableOf('Denials by code', ['Code', 'Status', 'Waiting', 'What it means'], denials.map(({ code, status, wait, meaning }) => [html`<code>${code}</code>`, status, WAITS_IN_WORDS[wait], meaning]))}
<h3>For example</h3>
${prose('An answer that denies', DENIAL_EXAMPLE)}
</section>`;

const waitingSection = ({ backOff }: PublicLimits): Html => html`<section aria-labelledby="_waiting">
<h2 id="_waiting">Waiting well</h2>
<ul class="advice">${backOff.map((sentence) => html`<li>${sentence}</li>`)}</ul>
<h3>A client to copy</h3>
<p>Any browser or Node 20, no dependency. Also as a file: <a href="/limits/quota-fetch.js">quota-fetch.js</a>. With types and pacing it is <code>createQuotaClient</code> of the package <code>@quotaplane/guard/client</code>.</p>
${prose('A client to copy', COPYABLE_CLIENT)}
</section>`;
