import type { PublicClass, PublicLimits } from '@quotaplane/contracts';
import { counted, figure, listed } from '../in-words';
import { html, type Html } from './html';
import { tableOf } from './parts';

/** What a call weighs, by its class. */
export const costSection = ({ classes }: PublicLimits): Html => html`<section aria-labelledby="_costs">
<h2 id="_costs">Costs</h2>
<p>A call takes its cost from every limit and quota that applies to it. Routes belong to a class; a route may work out its cost from the request instead, such as one unit an item. <code>qp-cost</code> in the answer tells what the call cost.</p>
${classes.length === 0 ? html`<p class="empty">Every call costs 1.</p>` : tableOf('Costs by class', ['Class', 'Cost', 'Meter', 'Given back', 'Repeat with the same Idempotency-Key'], classes.map(rowOf))}
</section>`;

const OUTCOMES = { '4xx': 'on 4xx', '5xx': 'on 5xx', aborted: 'when aborted' } as const;

const rowOf = ({ slug, cost, meter, refundOn, retry }: PublicClass): (Html | string)[] => [
  html`<code>${slug}</code>`,
  counted(cost, 'unit'),
  meter,
  refundOn.length === 0 ? 'never' : listed(refundOn.map((outcome) => OUTCOMES[outcome])),
  retry ? `${counted(retry.cost, 'unit')}, ${figure(retry.max)} times within ${retry.window}` : 'full cost',
];
